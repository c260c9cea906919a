package schematest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/engine"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/report"
	"github.com/tidegate/tidegate/reference"
)

// withoutSchema says of kinds, written as "apps/v1 Deployment", why nothing that can be had holds their schema. There is
// none at present.
var withoutSchema = map[string]string{}

// Each environment has at least so many objects, of so many kinds. Both are well below what there is: they are to show
// that objects go missing, not that the platform changes.
const (
	fewestObjects = 100
	fewestKinds   = 25
)

// object is one that Flux applies.
type object struct {
	environment, unit string
	name              string // NAMESPACE/NAME, or NAME
	kind              kind
	content           map[string]any
}

func (o object) String() string {
	return fmt.Sprintf("%s, %s: %s %s", o.environment, o.unit, o.kind, o.name)
}

// objects gives every object of both environments, decrypted.
func objects(t *testing.T) (out []object) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(reference.TestAgeKey()), "\n")
	key := strings.TrimSpace(lines[len(lines)-1])
	r, err := engine.Render(t.Context(), engine.Request{ShowSecrets: true, Dir: t.TempDir(), Getenv: func(name string) string {
		if name == "SOPS_AGE_KEY" {
			return key
		}
		return ""
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range r.Environments {
		for _, u := range e.Units {
			unit := u.Kind + " " + u.Namespace + "/" + u.Name
			// A chart is not rendered here. What else is not rendered would be missed silently.
			if u.Status != string(model.StatusOK) && u.Kind != "HelmRelease" {
				t.Errorf("%s, %s is %s: %v", e.Name, unit, u.Status, u.Reasons)
			}
			for _, o := range u.Objects {
				out = append(out, read(t, e.Name, unit, o))
			}
		}
	}
	if len(out) != r.Summary.Objects {
		t.Errorf("%d objects were read, and %d rendered", len(out), r.Summary.Objects)
	}
	return out
}

func read(t *testing.T, environment, unit string, from report.Object) object {
	t.Helper()
	o := object{environment: environment, unit: unit, name: strings.TrimPrefix(from.Namespace+"/"+from.Name, "/")}
	var err error
	if o.content, err = decoded(from.Manifest); err != nil {
		t.Fatalf("%s, %s: %s: %v", environment, unit, o.name, err)
	}
	o.kind = kindOf(o.content)
	// An encrypted value is a text, and passes where a text is wanted.
	if from.Status != string(model.StatusOK) || from.Masked || o.content["sops"] != nil {
		t.Errorf("%s is not known whole (%s, masked %t): %v", o, from.Status, from.Masked, from.Reasons)
	}
	return o
}

// decoded reads an object as the API server does: whole numbers are integers, and no key is there twice.
func decoded(text string) (m map[string]any, err error) {
	data, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(data, &m)
	return m, err
}

// Every object of the reference platform is what the schema of its kind says.
func TestReference(t *testing.T) {
	all := objects(t)
	wanted := map[kind]bool{}
	for name := range withoutSchema {
		wanted[kindNamed(name)] = true
	}
	for _, o := range all {
		wanted[o.kind] = true
	}
	s := load(t, wanted)

	type count map[kind]int
	byEnvironment, bySource, without := map[string]count{}, map[string]count{}, count{}
	tally := func(m map[string]count, name string, k kind) {
		if m[name] == nil {
			m[name] = count{}
		}
		m[name][k]++
	}
	for _, o := range all {
		faults, source := s.validate(o.content)
		if source == "" {
			without[o.kind]++
			continue
		}
		tally(byEnvironment, o.environment, o.kind)
		tally(bySource, source, o.kind)
		for _, f := range faults {
			t.Errorf("%s: %s", o, f)
		}
	}

	for k, n := range without {
		if reason, ok := withoutSchema[k.String()]; ok {
			t.Logf("not validated: %d objects of %s: %s", n, k, reason)
		} else {
			t.Errorf("%d objects of %s have no schema: name its module in modules_test.go, or the reason in withoutSchema", n, k)
		}
	}
	for name := range withoutSchema {
		if k := kindNamed(name); s.kinds[k].schema != nil {
			t.Errorf("%s has a schema, in %s: take it out of withoutSchema", name, s.kinds[k].source)
		} else if without[k] == 0 {
			t.Errorf("no object is of %s: take it out of withoutSchema", name)
		}
	}
	for _, source := range slices.Sorted(maps.Keys(bySource)) {
		t.Logf("%s: %s", source, counts(bySource[source]))
	}
	for _, environment := range []string{"dev", "prod"} {
		n, kinds := sum(byEnvironment[environment]), len(byEnvironment[environment])
		t.Logf("%s: %d objects of %d kinds are validated", environment, n, kinds)
		if n < fewestObjects || kinds < fewestKinds {
			t.Errorf("%s: only %d objects of %d kinds were validated, and at least %d of %d are to be", environment, n, kinds, fewestObjects, fewestKinds)
		}
	}
}

func sum(m map[kind]int) (n int) {
	for _, c := range m {
		n += c
	}
	return n
}

// counts writes how many objects there are of each kind.
func counts(m map[kind]int) string {
	var list []string
	for k, n := range m {
		list = append(list, fmt.Sprintf("%s %d", k.kind, n))
	}
	slices.Sort(list)
	return fmt.Sprintf("%d objects (%s)", sum(m), strings.Join(list, ", "))
}
