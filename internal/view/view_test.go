package view

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate/internal/report"
)

var update = flag.Bool("update", false, "write the golden files")

// TestGolden holds what a person and a machine see of one report that has a bit of everything.
func TestGolden(t *testing.T) {
	for name, write := range map[string]func(*bytes.Buffer) error{
		"summary.txt":        func(b *bytes.Buffer) error { return Summary(b, sample(), Style{}) },
		"summary-colour.txt": func(b *bytes.Buffer) error { return Summary(b, sample(), Style{Colour: true}) },
		"manifests.yaml":     func(b *bytes.Buffer) error { return Manifests(b, sample()) },
		"report.json":        func(b *bytes.Buffer) error { return JSON(b, sample()) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), b.String()); diff != "" {
			t.Errorf("%s (-golden +now); if it is meant, go test ./internal/view -update:\n%s", name, diff)
		}
	}
}

func sample() *report.Render {
	key := "give the environment's age key with --age-key-file"
	var units []report.Unit
	for i := range 9 {
		subject := fmt.Sprintf("Secret/apps/s%d", i)
		units = append(units, unit(fmt.Sprintf("u%d", i), "unverified",
			report.Reason{Code: "encrypted", Subject: subject, Message: subject + " is encrypted: no age key is held", Fix: key},
			report.Reason{Code: "encrypted", Subject: "Secret/flux-system/vars", Message: "${DOMAIN}: Secret/flux-system/vars is encrypted: no age key is held", Fix: key}))
	}
	units = append(units,
		unit("broken", "failed", report.Reason{
			Code: "substitute", Message: "post build failed for 'ConfigMap/x/c': variable not set (strict mode): \"A\"", Fix: "define A",
			Places: []report.Place{{File: "app/cm.yaml", Line: 5, Column: 7}, {File: "app/other.yaml", Line: 9}, {File: "app/kustomization.yaml"}},
		}, report.Reason{Code: "substitute", Message: "a second reason, which JSON has"}),
		unit("lines", "failed", report.Reason{Code: "build", Message: "kustomize build failed: accumulating resources:\n\tfirst cause\n\tsecond cause\n"}),
		unit("foreign", "unverified", report.Reason{Code: "foreign-source", Subject: "OCIRepository/flux-system/x", Message: "its files come from elsewhere"}),
		report.Unit{Kind: "HelmRelease", Namespace: "apps", Name: "one", Status: "unverified", Objects: []report.Object{}, Reasons: []report.Reason{{Code: "chart", Subject: "HelmRelease/apps/one", Message: "its chart is not rendered"}}},
		report.Unit{Kind: "HelmRelease", Namespace: "apps", Name: "two", Status: "unverified", Objects: []report.Object{}, Reasons: []report.Reason{{Code: "chart", Subject: "HelmRelease/apps/two", Message: "its chart is not rendered"}}},
		report.Unit{Kind: "Kustomization", Namespace: "flux-system", Name: "apps", Path: "apps", Status: "ok", Suspended: true, Objects: []report.Object{
			{APIVersion: "v1", Kind: "ConfigMap", Name: "a", Status: "ok", Manifest: "apiVersion: v1\nkind: ConfigMap\n"},
			{APIVersion: "v1", Kind: "Secret", Name: "s", Status: "unverified", Masked: true, Reasons: []report.Reason{{Code: "encrypted", Message: "Secret/s is encrypted"}}, Manifest: "apiVersion: v1\nkind: Secret\nstringData:\n  a: '**SOPS**'"},
		}})
	var sets []report.Reason
	for _, n := range []string{"a", "b"} {
		s := "ResourceSet/flux-system/" + n
		sets = append(sets, report.Reason{Code: "template", Subject: s, Message: s + " makes further objects from a template, which are not rendered"})
	}
	prod := report.Environment{
		Name: "production-with-a-wide-name", Entry: "clusters/production", Root: ".", FluxVersion: "2.9", Strict: true, Units: units, Reasons: sets,
		Summary: report.Summary{Environments: 1, Units: len(units), Objects: 1234, OK: 1, Failed: 2, Unverified: 12},
	}
	dev := report.Environment{Name: "dev", Entry: "clusters/dev", Root: ".", Units: []report.Unit{}, Summary: report.Summary{Environments: 1}}
	return &report.Render{
		Version: report.RenderVersion, Repository: "fleet", Environments: []report.Environment{dev, prod}, Warnings: []string{"a warning"},
		Summary: report.Summary{Environments: 2, Units: len(units), Objects: 1234, OK: 1, Failed: 2, Unverified: 12, Seconds: 1.5},
	}
}

func unit(name, status string, reasons ...report.Reason) report.Unit {
	return report.Unit{Kind: "Kustomization", Namespace: "flux-system", Name: name, Path: name, Status: status, Reasons: reasons, Objects: []report.Object{}}
}

// Text of a repository is never obeyed by a terminal and never leaves its line, in whatever field it stands.
func TestHostileText(t *testing.T) {
	for _, bad := range []string{"\x1b[31m", "\x1b]0;title\x07", "\u009b2J", "\r", "\n", "\b\b", "\x7f", "\u2028", "\u202e", "\xff\xfe", "\u2066"} {
		r := hostile("a" + bad + "b")
		for name, write := range map[string]func(*bytes.Buffer) error{
			"summary":   func(b *bytes.Buffer) error { return Summary(b, r, Style{}) },
			"manifests": func(b *bytes.Buffer) error { return Manifests(b, r) },
		} {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			for _, c := range b.String() {
				if c != '\n' && (unicode.IsControl(c) || c == 0x2028 || unicode.Is(unicode.Bidi_Control, c)) {
					t.Errorf("%s of %q holds %q:\n%q", name, bad, c, b.String())
					break
				}
			}
			for _, line := range strings.Split(b.String(), "\n") {
				if name == "manifests" && line != "" && line[0] != '#' && line != "---" && line != "a: b" {
					t.Errorf("text of %q leaves its comment: %q", bad, line)
				}
			}
		}
	}
}

func hostile(s string) *report.Render {
	reason := func(code string) report.Reason {
		return report.Reason{Code: code, Message: s + " is encrypted", Subject: s, Fix: s, Places: []report.Place{{File: s, Line: 1}}}
	}
	second := reason("encrypted")
	second.Subject, second.Message = s+"2", s+"2 is encrypted"
	object := report.Object{APIVersion: s, Kind: s, Name: s, Manifest: "a: b\n", Reasons: []report.Reason{reason("encrypted")}}
	return &report.Render{
		Repository: s, Warnings: []string{s},
		Environments: []report.Environment{{
			Name: s, Entry: s, Reasons: []report.Reason{reason("entry"), reason("duplicate"), reason("template"), second},
			Units: []report.Unit{
				{Kind: s, Namespace: s, Name: s, Path: s, Status: "unverified", Reasons: []report.Reason{reason("encrypted"), reason("foreign-source")}, Objects: []report.Object{object}},
				{Kind: s, Namespace: s, Name: s, Path: s, Status: "failed", Suspended: true, Reasons: []report.Reason{reason("build")}, Objects: []report.Object{object}},
			},
		}},
	}
}

// A summary stays short, whatever there is to say, and says how much it leaves out.
func TestSummaryIsBounded(t *testing.T) {
	r := &report.Render{Environments: []report.Environment{{Name: "a"}}}
	for i := range 500 {
		for _, code := range []string{"missing-source", "encrypted", "template"} {
			s := fmt.Sprintf("Secret/x/s%d", i)
			r.Environments[0].Units = append(r.Environments[0].Units, unit(fmt.Sprint(code, i), "unverified", report.Reason{Code: code, Subject: s, Message: s + " is " + code}))
		}
	}
	var b bytes.Buffer
	if err := Summary(&b, r, Style{}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n > 30 {
		t.Errorf("%d lines", n)
	}
	for _, want := range []string{"500 Secrets are encrypted", "and 494 more", "500 Secrets are template", "and 490 more causes: -o json lists all"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("it lacks %q:\n%s", want, b.String())
		}
	}
}

// Secrets that no key opens for different reasons are not told as one.
func TestCausesAreKeptApart(t *testing.T) {
	r := &report.Render{Environments: []report.Environment{{Name: "a"}}}
	for i, why := range []string{"no age key is held", "no age key is held", "no held key opens it", "no age key is held"} {
		s := fmt.Sprintf("Secret/x/s%d", i)
		if i == 3 {
			s = "ConfigMap/x/c"
		}
		r.Environments[0].Units = append(r.Environments[0].Units, unit(fmt.Sprint(i), "unverified", report.Reason{Code: "encrypted", Subject: s, Message: s + " is encrypted: " + why}))
	}
	var b bytes.Buffer
	if err := Summary(&b, r, Style{}); err != nil {
		t.Fatal(err)
	}
	want := "unverified a 3 objects are encrypted: no age key is held\n    Secret/x/s0, Secret/x/s1, ConfigMap/x/c\nunverified a Secret/x/s2 is encrypted: no held key opens it\n\n"
	if !strings.HasPrefix(b.String(), want) {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
}

// Nothing wrong and nothing unknown: the table alone.
func TestQuietSummary(t *testing.T) {
	r := &report.Render{Repository: "fleet", Environments: []report.Environment{{Name: "a", Entry: "clusters/a", Summary: report.Summary{Units: 1, Objects: 1, OK: 1}}},
		Summary: report.Summary{Environments: 1, Units: 1, Objects: 1, OK: 1}}
	var b bytes.Buffer
	if err := Summary(&b, r, Style{Colour: true}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(b.String(), "  ENVIRONMENT") || strings.Contains(b.String(), "\x1b") || !strings.HasSuffix(b.String(), "1 environment of fleet: 1 unit, 1 object; 0 failed, 0 unverified; 0.00 s\n") {
		t.Errorf("%q", b.String())
	}
}

// UnitFile writes documents that parse one by one, however they end.
func TestUnitFile(t *testing.T) {
	var b bytes.Buffer
	u := report.Unit{Objects: []report.Object{{Manifest: "a: 1"}, {Manifest: "b: 2\n", Reasons: []report.Reason{{Message: "two\nlines"}}}}}
	if err := UnitFile(&b, u); err != nil {
		t.Fatal(err)
	}
	if want := "a: 1\n---\n# unverified: two lines\nb: 2\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// JSON is what it was made from, with < and & as they are.
func TestJSON(t *testing.T) {
	r := sample()
	r.Repository = "a<b>&c\x1b"
	var b bytes.Buffer
	if err := JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	var back report.Render
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, &back); diff != "" || !strings.Contains(b.String(), `"a<b>&c\u001b"`) {
		t.Error(diff)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, os.ErrClosed }

// A writer that fails is heard.
func TestWriteErrors(t *testing.T) {
	if Summary(fullDisk{}, sample(), Style{}) == nil || Manifests(fullDisk{}, sample()) == nil || JSON(fullDisk{}, sample()) == nil || UnitFile(fullDisk{}, sample().Environments[1].Units[14]) == nil {
		t.Error("a write error was lost")
	}
}
