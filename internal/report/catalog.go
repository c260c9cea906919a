package report

// CatalogVersion is the version of Catalog's JSON.
const CatalogVersion = "tidegate.dev/catalog/v1"

// Catalog is the result of the verbs of the catalog: the apps in their waves, and what a render would change.
type Catalog struct {
	Version    string           `json:"version" jsonschema:"const=tidegate.dev/catalog/v1"`
	Repository string           `json:"repository"`
	Apps       []CatalogApp     `json:"apps"`
	Provided   []string         `json:"provided" jsonschema:"description=what the tiers before the apps provide"`
	Problems   []CatalogProblem `json:"problems" jsonschema:"description=what speaks against a render: with any nothing is written"`
	Changes    []CatalogChange  `json:"changes"`
	Written    bool             `json:"written" jsonschema:"description=the changes were made"`
	Missing    []CatalogSecret  `json:"missing" jsonschema:"description=encrypted Secrets that nobody has made yet"`
	Left       []string         `json:"left" jsonschema:"description=files among the output that were not generated and stay"`
	Cutover    int              `json:"cutover" jsonschema:"description=the step of a change of waves that is under way; 0 without one"`
	Next       []string         `json:"next" jsonschema:"description=what to do with the result"`
	Warnings   []string         `json:"warnings"`
}

// CatalogApp is an app.
type CatalogApp struct {
	Name     string   `json:"name"`
	File     string   `json:"file"`
	Wave     int      `json:"wave"`
	Needs    []string `json:"needs"`
	Host     string   `json:"host,omitempty"`
	Address  string   `json:"address,omitempty"`
	Database bool     `json:"database"`
	Storage  []string `json:"storage"`
}

// CatalogProblem is a mistake in a file of the catalog.
type CatalogProblem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
	Fix     string `json:"fix,omitempty"`
}

// CatalogChange is a file that differs from what the catalog makes.
type CatalogChange struct {
	Path   string `json:"path"`
	Action string `json:"action" jsonschema:"enum=create,enum=change,enum=delete"`
	Diff   string `json:"diff"`
}

// CatalogSecret is an encrypted file that is not there.
type CatalogSecret struct {
	App     string `json:"app"`
	File    string `json:"file"`
	Example string `json:"example"`
}

// NewCatalog makes an empty result.
func NewCatalog(repository string) *Catalog {
	return &Catalog{Version: CatalogVersion, Repository: repository, Apps: []CatalogApp{}, Provided: []string{}, Problems: []CatalogProblem{}, Changes: []CatalogChange{},
		Missing: []CatalogSecret{}, Left: []string{}, Next: []string{}, Warnings: []string{}}
}
