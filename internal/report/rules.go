package report

// RulesVersion is the version of Rules' JSON.
const RulesVersion = "tidegate.dev/rules/v1"

// Rules is the result of `tidegate rules` and of `tidegate explain`.
type Rules struct {
	Version string `json:"version"`
	Rules   []Rule `json:"rules"`
}

// Rule is a rule and what is told of it. Bad and Good are txtar archives of small repositories.
type Rule struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Severity string   `json:"severity"`
	Needs    []string `json:"needs"`
	What     string   `json:"what"`
	Why      string   `json:"why"`
	Bad      string   `json:"bad"`
	Good     string   `json:"good"`
	Misses   string   `json:"misses"`
	Since    string   `json:"since"`
	Docs     string   `json:"docs"`

	// Found is what a check of Bad gives; only where a rule is explained.
	Found []Finding `json:"found,omitempty"`
}
