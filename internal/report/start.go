package report

// BootstrapVersion is the version of Bootstrap's JSON.
const BootstrapVersion = "tidegate.dev/bootstrap/v1"

// Start is what init or env add wrote.
type Start struct {
	Directory   string
	Environment string
	Files       int
	Written     []string
	Undecided   []string // knobs that have a placeholder
	Encrypted   []string // files whose example ciphertext has to be made anew
}

// Bootstrap is what must be done for a cluster before Flux has it.
type Bootstrap struct {
	Version     string          `json:"version" jsonschema:"const=tidegate.dev/bootstrap/v1"`
	Repository  string          `json:"repository"`
	Environment string          `json:"environment"`
	Entry       string          `json:"entry"`
	Steps       []BootstrapStep `json:"steps"`
	ValuesFile  string          `json:"valuesFile" jsonschema:"description=the file that values was made of"`
	Values      string          `json:"values" jsonschema:"description=Helm values for the network with the environment's knobs in them"`
	Notes       []string        `json:"notes" jsonschema:"description=what the cluster would better not be brought up with"`
	Problems    []string        `json:"problems" jsonschema:"description=what has to be decided first"`
}

// BootstrapStep is one thing to do.
type BootstrapStep struct {
	Title    string   `json:"title"`
	Text     string   `json:"text"`
	Commands []string `json:"commands"`
}
