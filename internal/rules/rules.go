// Package rules holds the rules, one file each, and the list of them. A rule reads facts and reports findings; it imports
// neither the renderer nor anything of Kubernetes.
package rules

import "github.com/tidegate/tidegate/internal/rule"

//go:generate go run ./gendocs/list
//go:generate go run ./gendocs

// ByID finds a rule by its ID or its name; nil when there is none.
func ByID(name string) *rule.Rule {
	for _, r := range All() {
		if r.ID == name || r.Name == name {
			return r
		}
	}
	return nil
}
