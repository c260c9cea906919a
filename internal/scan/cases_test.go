package scan_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/flux"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/oracle"
	"github.com/tidegate/tidegate/internal/render"
	"github.com/tidegate/tidegate/internal/scan"
	"github.com/tidegate/tidegate/internal/sops"
	"github.com/tidegate/tidegate/internal/source"
)

// settled are the units whose result here is on purpose not the one of Flux's first pass, with why.
var settled = map[string]string{
	"18-missing-substitutefrom/app":                   "what the repository does not make may be in the cluster: unverified, not failed",
	"19-vars-produced-by-sibling-without-dependson/a": "a source that a sibling makes counts: Flux reads it again at each interval",
}

// ownWords are what the message says where Flux's text is the judge's own, or that of a library that is not used here.
var ownWords = map[string]string{
	"11-non-string-in-substitute-map":    "the API server refuses it: spec.postBuild.substitute.ACCOUNT: must be of type string",
	"48-sops-encrypted-patch":            "decryption failed for 'Secret.v1.[noGrp]/s': failed to decrypt and format '/s' Secret data",
	"53-typo-in-apiversion-drops-object": "failed to decode Kubernetes apiVersion, kind and name from",
}

// TestCases renders each case as one environment whose entry is a file of Kustomizations, and holds every unit against
// what Flux's own packages made of it.
func TestCases(t *testing.T) {
	for _, c := range oracle.Cases(t) {
		t.Run(c.Name, func(t *testing.T) {
			for mode, version := range map[string]string{"strict": "2.9", "lax": "2.8", "traced": "2.9"} {
				env := scanCaseTraced(t, c, version, c.Units(t), mode == "traced")
				mode = strings.Replace(mode, "traced", "strict", 1)
				if len(env.Units) < len(c.Units(t)) {
					t.Fatalf("%d units, the case has %d Kustomizations", len(env.Units), len(c.Units(t)))
				}
				for _, u := range env.Units {
					want, ok := c.Want(mode, u.ID.Name)
					if !ok {
						continue // a unit that this one renders
					}
					if _, ok := settled[c.Name+"/"+u.ID.Name]; ok {
						continue
					}
					holdUnit(t, mode, u, want, ownWords[c.Name])
				}
				holdFinal(t, c, mode, env)
			}
		})
	}
}

// TestCaseMissingSource: a source that nothing makes leaves unknown what needs it, and nothing else.
func TestCaseMissingSource(t *testing.T) {
	c := caseNamed(t, "18-missing-substitutefrom")
	want, _ := c.Want("strict", "app")
	if !strings.HasPrefix(want, "ERR ") {
		t.Fatalf("Flux no longer fails: %s", want)
	}
	env := scanCase(t, c, "2.9", c.Units(t))
	u := unitNamed(t, env, "app")
	if u.Status != model.StatusUnverified || !has(u, model.CodeMissingVariable) {
		t.Fatalf("status %s, reasons %+v; want unverified for a missing source", u.Status, u.Reasons)
	}
}

// TestCaseSettles: both units, then the first alone, which is Flux's first pass.
func TestCaseSettles(t *testing.T) {
	c := caseNamed(t, "19-vars-produced-by-sibling-without-dependson")
	want, _ := c.Want("strict", "a")
	alone := scanCase(t, c, "2.9", c.Units(t)[:1])
	holdUnit(t, "strict", unitNamed(t, alone, "a"), want, "")

	both := unitNamed(t, scanCase(t, c, "2.9", c.Units(t)), "a")
	if got := stream(both); got != strings.ReplaceAll(want, "${VIP:=10.0.0.1}", "10.0.0.9") {
		t.Errorf("the settled state does not use the sibling's variable:\n%s", got)
	}
}

func holdUnit(t *testing.T, mode string, u *model.Unit, want, own string) {
	t.Helper()
	words, fails := strings.CutPrefix(want, "ERR ")
	switch {
	case fails && u.Status != model.StatusFailed:
		t.Errorf("%s %s: status %s, and Flux fails: %s", mode, u.ID.Name, u.Status, words)
	case fails:
		if message := u.Reasons[0].Message; !sameWords(message, words) && (own == "" || !strings.Contains(message, own)) {
			t.Errorf("%s %s: the message lacks Flux's words\ngot  %s\nwant %s", mode, u.ID.Name, message, words)
		}
	case u.Status != model.StatusOK && !has(u, model.CodeForeignSource):
		t.Errorf("%s %s: status %s %+v, and Flux succeeds", mode, u.ID.Name, u.Status, u.Reasons)
	case stream(u) != want:
		t.Errorf("%s %s: %s\ngot:\n%s", mode, u.ID.Name, firstDifference(stream(u), want), stream(u))
	}
}

// holdFinal takes the units on to what is applied, in the mode that the case's want was made in.
func holdFinal(t *testing.T, c oracle.Case, mode string, env *model.Environment) {
	t.Helper()
	scan.Apply(env, false)
	for _, u := range env.Units {
		final, ok := c.Want("final", u.ID.Name)
		strict, _ := c.Want("strict", u.ID.Name)
		if _, known := settled[c.Name+"/"+u.ID.Name]; !ok || known || (mode == "lax") != strings.HasPrefix(strict, "ERR ") {
			continue
		}
		if guard, ok := c.Want("guard", u.ID.Name); ok {
			if u.Status != model.StatusFailed || !strings.Contains(u.Reasons[0].Message, strings.TrimSpace(guard)) {
				t.Errorf("%s: %s %+v, want Flux's refusal: %s", u.ID.Name, u.Status, u.Reasons, guard)
			}
			continue
		}
		got := ""
		for _, o := range u.Objects {
			got += "---\n" + o.YAML
		}
		if got != final {
			t.Errorf("final %s: %s\ngot:\n%s", u.ID.Name, firstDifference(got, final), got)
		}
	}
}

// sameWords tells whether a message says what Flux's error says. The objects and files that it names are written in
// other ways, so it is the cause, behind the last colon, that must be there.
func sameWords(message, words string) bool {
	words = strings.TrimSpace(strings.ReplaceAll(words, "<artifact>/", ""))
	cause := words[strings.LastIndex(words, ": ")+1:]
	return strings.Contains(message, strings.TrimSpace(cause))
}

func scanCase(t *testing.T, c oracle.Case, version string, units []oracle.Unit) *model.Environment {
	t.Helper()
	return scanCaseTraced(t, c, version, units, false)
}

func scanCaseTraced(t *testing.T, c oracle.Case, version string, units []oracle.Unit, traced bool) *model.Environment {
	t.Helper()
	tree, err := source.OpenDir(c.Dir(t))
	if err != nil {
		t.Fatal(err)
	}
	behaviour, err := flux.For(version)
	if err != nil {
		t.Fatal(err)
	}
	builder := &render.Builder{Flux: behaviour, Trace: traced}
	if text, ok := c.File("age.key"); ok {
		if builder.Keys, err = sops.ParseKeys(text); err != nil {
			t.Fatal(err)
		}
	}
	o := scan.Options{
		Tree: tree, Builder: builder, FluxGiven: true, ShowSecrets: true,
		Entries: []scan.Entry{{Name: "case", Path: "ks.yaml", File: fileOf(t, units)}},
	}
	if data, ok := c.File("cluster.yaml"); ok {
		if o.Cluster, err = scan.ParseObjects("cluster.yaml", data); err != nil {
			t.Fatal(err)
		}
	}
	res, err := scan.Scan(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return res.Environments[0]
}

func caseNamed(t *testing.T, name string) oracle.Case {
	t.Helper()
	for _, c := range oracle.Cases(t) {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no case %s", name)
	return oracle.Case{}
}

func unitNamed(t *testing.T, env *model.Environment, name string) *model.Unit {
	t.Helper()
	for _, u := range env.Units {
		if u.ID.Name == name {
			return u
		}
	}
	t.Fatalf("no unit %s", name)
	return nil
}
