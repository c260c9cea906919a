// Package catalog makes the manifests of apps from one short file each, and says in which wave each app runs.
//
// The rules are:
//
//   - catalog/<app>.yaml is all that a person writes; catalog/<app>/ beside it holds the app's encrypted Secrets and the
//     manifests that the format has no words for. Both are copied into the output, which is apps/wave-N/<app>/ and
//     clusters/base/apps-wave-N.yaml.
//   - A wave is computed, never typed: one more than the highest wave of what the app needs. What the tiers before the
//     apps provide counts as before wave 0.
//   - The output depends on the files of the catalog and on tidegate.yaml only: not on their order, the time or the
//     machine. It keeps every ${TOKEN}.
//   - A file that does not say that it was generated is never touched. Of a hand-written file only the part between
//     the marks of region.go is.
//   - An app that changes its wave is refused unless the change is a cutover (moves.go): the wave is a Kustomization that
//     prunes, and would take the app's database along.
//   - Nothing is written before everything is known to be good.
package catalog

import "github.com/tidegate/tidegate/internal/model"

// APIVersion is the version of the format that this program reads.
const APIVersion = "tidegate.dev/v1alpha1"

// App is a file of the catalog: one app, in one namespace, with one container. Text that reaches a manifest may hold
// ${TOKEN}s, which Flux replaces in each environment.
type App struct {
	APIVersion string `yaml:"apiVersion" need:"yes" example:"tidegate.dev/v1alpha1" doc:"The version of this format."`
	Name       string `yaml:"name" need:"yes" example:"nextcloud" doc:"The app's name, as the file is called: a DNS label. Its namespace, Deployment, Service and folder are called so."`
	About      string `yaml:"about" lines:"yes" example:"Files and calendars." doc:"What a reader of the manifests should know; becomes a comment on the Deployment."`

	Image     string     `yaml:"image" need:"yes" example:"docker.io/library/nextcloud:34.0.3" doc:"The container's image, with a tag or a digest."`
	Args      []string   `yaml:"args" lines:"yes" example:"[server]" doc:"Arguments of the image's entrypoint."`
	Env       []Variable `yaml:"env" example:"{TZ: Etc/UTC}" doc:"Environment variables by name, in this order."`
	Ports     []Port     `yaml:"ports" need:"yes" example:"{http: 8080}" doc:"The container's ports by name; each is a port of the Service too."`
	Probe     *Probe     `yaml:"probe" need:"yes" example:"{path: /healthz, port: http}" doc:"How to see that the app can serve."`
	Resources *Resources `yaml:"resources" need:"yes" example:"{cpu: 100m, memory: 256Mi, memoryLimit: 1Gi}" doc:"What the container asks for."`
	Replicas  string     `yaml:"replicas" number:"yes" example:"${REPLICAS_KEYCLOAK}" doc:"How many pods: a number or a ${TOKEN}; 1 by default, and always 1 for an app with a volume."`
	User      int        `yaml:"user" example:"1000" doc:"The user and group that the container runs as, without capabilities. Left out, the image decides."`

	Storage  []Volume  `yaml:"storage" example:"{data: {mount: /data, size: 5Gi}}" doc:"Volumes by name."`
	Files    []Content `yaml:"files" example:"{/etc/app/config.yaml: \"...\"}" doc:"Files by their path in the container; they become a ConfigMap. A changed file restarts the app."`
	Database *Database `yaml:"database" example:"{size: 5Gi}" doc:"A PostgreSQL cluster of its own, made by CloudNativePG."`
	Backup   *Backup   `yaml:"backup" example:"{database: 0 30 3 * * *}" doc:"What is backed up, and when."`

	Route   *Route   `yaml:"route" example:"{host: cloud.home.example.net, port: http}" doc:"The name under which the shared Gateway serves the app."`
	L4      *L4      `yaml:"l4" example:"{address: '${PLEX_L4_VIP}', ports: [plex]}" doc:"An address of its own on the LAN, for what is not HTTP."`
	Login   *Login   `yaml:"login" example:"{client: nextcloud}" doc:"Single sign-on: the app is an OpenID Connect client."`
	Secrets []Secret `yaml:"secrets" example:"{nextcloud-admin: {keys: {password: a password}}}" doc:"Encrypted Secrets by name; each is catalog/<app>/<name>.sops.yaml."`

	Nodes     bool     `yaml:"nodes" example:"true" doc:"The app speaks to the nodes themselves, by SSH say: Cilium does not count them as outside."`
	Needs     []string `yaml:"needs" example:"[gitea]" doc:"What must be healthy before the app: other apps, or what the tiers provide. Its wave follows from this."`
	Manifests []string `yaml:"manifests" example:"[cron-job.yaml]" doc:"Files in catalog/<app>/ that are applied as they are."`

	File   string `yaml:"-"`
	Wave   int    `yaml:"-"` // computed
	places map[string]model.Place
}

// Variable is an environment variable. A text is its value.
type Variable struct {
	Name     string `yaml:",key"`
	Value    string `yaml:",scalar" lines:"yes" doc:"The value."`
	Secret   string `yaml:"secret" example:"nextcloud-admin" doc:"The Secret that holds the value, one of secrets."`
	Key      string `yaml:"key" example:"password" doc:"The key in that Secret."`
	Database string `yaml:"database" enum:"host,name,username,password" example:"password" doc:"A value of the app's database: host, name, username or password."`
	Login    string `yaml:"login" enum:"issuer,client-id,client-secret" example:"issuer" doc:"A value of the app's single sign-on: issuer, client-id or client-secret."`
}

// Port is a port of the container. A number is its port.
type Port struct {
	Name     string `yaml:",key"`
	Port     int    `yaml:"port,scalar" need:"yes" example:"8080" doc:"The number, 1 to 65535."`
	Protocol string `yaml:"protocol" enum:"TCP,UDP" example:"UDP" doc:"TCP, the default, or UDP."`
}

// Probe is how the kubelet sees that the app can serve.
type Probe struct {
	Path    string `yaml:"path" example:"/healthz" doc:"The path to get. Left out, it is enough that the port opens."`
	Port    string `yaml:"port" need:"yes" example:"http" doc:"The name of the port."`
	Host    string `yaml:"host" example:"cloud.home.example.net" doc:"The Host header, for apps that refuse other names."`
	Startup string `yaml:"startup" example:"15m" doc:"How long the first start may take; without it a start has 30 seconds."`
}

// Resources are the container's requests, and the memory at which it is stopped.
type Resources struct {
	CPU         string `yaml:"cpu" number:"yes" need:"yes" example:"100m" doc:"The CPU that is reserved."`
	Memory      string `yaml:"memory" number:"yes" need:"yes" example:"256Mi" doc:"The memory that is reserved."`
	MemoryLimit string `yaml:"memoryLimit" number:"yes" example:"1Gi" doc:"The memory at which the container is killed; four times memory by default, none with none."`
}

// Volume is a volume and where the container sees it.
type Volume struct {
	Name     string `yaml:",key"`
	Mount    string `yaml:"mount" need:"yes" example:"/data" doc:"Where the container sees it."`
	Size     string `yaml:"size" number:"yes" example:"${STORAGE_NEXTCLOUD}" doc:"How large it is. Left out for scratch."`
	Class    string `yaml:"class" example:"local-path" doc:"The StorageClass; the catalog's by default."`
	ReadOnly bool   `yaml:"readOnly" example:"true" doc:"The container may not write."`
	Scratch  bool   `yaml:"scratch" example:"true" doc:"It is empty at every start and nothing is kept."`
	Local    *Local `yaml:"local" example:"{path: /srv/media, node: '${NODE_MEDIA}'}" doc:"It is a folder of one node's disk, and the app runs there."`
}

// Local is a folder on a node.
type Local struct {
	Path string `yaml:"path" need:"yes" example:"/srv/media" doc:"The folder on the node. It must exist."`
	Node string `yaml:"node" need:"yes" example:"${NODE_MEDIA}" doc:"The node's name."`
}

// Content is a file in the container. A text is its content.
type Content struct {
	Path string `yaml:",key"`
	Text string `yaml:",scalar" lines:"yes" need:"yes" example:"key: value" doc:"The file's content."`
}

// Database is the app's PostgreSQL cluster.
type Database struct {
	Size      string `yaml:"size" number:"yes" need:"yes" example:"${STORAGE_DATABASE}" doc:"How large its volumes are."`
	Instances string `yaml:"instances" number:"yes" example:"3" doc:"How many; the catalog's by default."`
	Server    string `yaml:"server" example:"nextcloud-db-2" doc:"The name under which it archives; another after a recovery, so that the old archive is not written over."`
	Name      string `yaml:"name" example:"nextcloud" doc:"The database and its owner; the app's name by default."`
}

// Backup says what is kept.
type Backup struct {
	Database string   `yaml:"database" example:"0 30 3 * * *" doc:"When the database is backed up: six cron fields, seconds first; or never."`
	Without  []string `yaml:"without" example:"[media]" doc:"Volumes that are not backed up."`
}

// Route is the app's name at the Gateway.
type Route struct {
	Host string `yaml:"host" need:"yes" example:"cloud.home.example.net" doc:"The name. No two apps have the same."`
	Port string `yaml:"port" need:"yes" example:"http" doc:"The name of the port that serves it."`
}

// L4 is the app's own address.
type L4 struct {
	Address string   `yaml:"address" need:"yes" example:"${PLEX_L4_VIP}" doc:"The address. No two apps have the same, and it is a knob, since each environment has its own."`
	Ports   []string `yaml:"ports" need:"yes" example:"[plex]" doc:"The names of the ports that it serves."`
	Service string   `yaml:"service" example:"plex-l4-tcp" doc:"The Service's name; <app>-l4 by default."`
}

// Login makes the app an OpenID Connect client. Its Secret <app>-oidc holds client-id and client-secret.
type Login struct {
	Client string `yaml:"client" need:"yes" example:"nextcloud" doc:"The client's id at the identity provider."`
}

// Secret is an encrypted Secret.
type Secret struct {
	Name  string `yaml:",key"`
	About string `yaml:"about" lines:"yes" example:"The first administrator." doc:"What it is for."`
	Keys  []Key  `yaml:"keys" need:"yes" example:"{password: a password}" doc:"Its keys, and what goes into each."`
}

// Key is a key of a Secret, with what goes in.
type Key struct {
	Name string `yaml:",key"`
	What string `yaml:",scalar" need:"yes" example:"a password" doc:"What goes in."`
}

// Problem is what is wrong with a catalog.
type Problem struct {
	Place   model.Place
	Message string
	Fix     string
}

// place gives where a field of an app stands, or the nearest field around it that does.
func (a *App) place(at string) model.Place {
	for {
		if p, ok := a.places[at]; ok {
			return p
		}
		cut := lastCut(at)
		if cut < 0 {
			return model.Place{File: a.File, Line: 1, Column: 1}
		}
		at = at[:cut]
	}
}

func lastCut(at string) int {
	for i := len(at) - 1; i >= 0; i-- {
		if at[i] == '.' || at[i] == '[' {
			return i
		}
	}
	return -1
}
