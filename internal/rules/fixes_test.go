package rules_test

import (
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/tidegate/tidegate/internal/ruletest"
)

// TestQuotingFix holds that the fix of a value that becomes something else names the value as it is written, and the
// default where nothing is set.
func TestQuotingFix(t *testing.T) {
	const head = `-- clusters/home/app.yaml --
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: app, namespace: flux-system}
spec:
  interval: 10m
  path: ./app
  prune: true
  sourceRef: {kind: GitRepository, name: flux-system}
  postBuild:
    substitute: {REV: "0123", OTHER: x}
-- app/app.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: app
  namespace: default
`
	for body, want := range map[string]string{
		"  labels: {rev: '${REV}'}\n":        `put quotes into the value, since those of the manifest are gone by then: REV: '"0123"'`,
		"data: {rev: '${REV}'}\n":            `put quotes into the value: REV: '"0123"'`,
		"  labels: {rev: '${SHA:-123e4}'}\n": `put quotes into the default: ${SHA:-"123e4"}`,
		"data: {rev: '${SHA:=123e4}'}\n":     `put quotes into the default: ${SHA:="123e4"}`,
	} {
		a := txtar.Parse([]byte(head + body))
		dir := t.TempDir()
		ruletest.Write(t, dir, a, false)
		r := ruletest.Check(t, dir, a)
		if len(r.Findings) != 1 || len(r.Findings[0].Fixes) == 0 {
			t.Errorf("%s: %d findings", body, len(r.Findings))
			continue
		}
		if got := r.Findings[0].Fixes[0].Message; got != want {
			t.Errorf("%s: the fix is\n%s\nwant\n%s", body, got, want)
		}
	}
}
