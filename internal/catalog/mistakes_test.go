package catalog_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/catalog"
)

// A mistake is told at its line and column, with what to write instead, and nothing is made.
func TestMistakes(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"empty":            {"", `1:1 the file is empty | catalog add`},
		"no YAML":          {"name: [", `1:1 it is no YAML`},
		"no mapping":       {"- a", `1:1 an app is a mapping of fields, and this is a list`},
		"two documents":    {app("x") + "---\na: b\n", `7:1 there is more than one document`},
		"missing":          {"apiVersion: tidegate.dev/v1alpha1\nname: x\nports: {http: 80}\nprobe: {port: http}\nresources: {cpu: 1, memory: 1Gi}\n", `1:1 image is missing \| add image: docker.io`},
		"wrong type":       {app("x", "storage: yes"), `7:10 storage is the (boolean|text) .* \| write a mapping of names, such as storage: `},
		"number as text":   {app("x", "env:", "  A: 5432"), `8:6 env.A is the number 5432, where text is wanted \| quote it: "5432"`},
		"text as number":   {app("x", "user: root"), `7:7 user is the text "root" \| write a number, such as user: 1000`},
		"unknown":          {app("x", "imgae: y"), `7:1 there is no field imgae \| write image`},
		"unknown within":   {app("x", "route: {hots: a.example.net, port: http}"), `7:9 there is no field route.hots \| write host`},
		"twice":            {app("x", "about: a", "about: b"), `8:1 about is there twice: first in line 7`},
		"alias":            {app("x", "about: &a text", "args: [*a]"), `8:8 args\[0\] is an alias`},
		"wave by hand":     {app("x", "wave: 2"), `7:1 wave is not written by hand \| waves are computed from needs`},
		"no label":         {strings.Replace(app("x"), "name: x", "name: My_App", 1), `2:1 the name "My_App" is no DNS label that a Service can have \| .*my-app`},
		"another file":     {strings.Replace(app("x"), "name: x", "name: y", 1), `2:1 the app is called y and its file x.yaml`},
		"a tier's":         {strings.Replace(app("x"), "name: x", "name: keycloak", 1), `2:1 keycloak is the name of something that the tiers provide`},
		"a namespace":      {strings.Replace(app("x"), "name: x", "name: longhorn-system", 1), `2:1 the namespace longhorn-system is made by platform/longhorn/namespace.yaml already, and would have two owners`},
		"digit":            {strings.Replace(app("x"), "name: x", "name: 9a", 1), `2:1 the name "9a" is no DNS label that a Service can have \| .*such as a`},
		"limit":            {strings.Replace(app("x"), "memory: 64Mi", "memory: 64Mi, memoryLimit: 32Mi", 1), `6:37 the limit 32Mi is below the 64Mi that are reserved`},
		"line break":       {app("x", `about: "x\rkind: Evil"`), `7:8 about holds the line break U\+000D`},
		"control":          {app("x", `env: {A: "a\x7f"}`), `7:10 env.A holds the character U\+007F`},
		"several lines":    {app("x", `route: {host: "a\nb", port: http}`), `7:15 route.host has several lines`},
		"name":             {app("x", `env: {"a\nb": c}`), `7:7 .* is no name that a field can have`},
		"host with blanks": {app("x", `route: {host: "${A} <!-- catalog: end -->", port: http}`), `7:9 .* is no host name`},
		"many":             {app("x", "needs: ["+strings.Repeat("a, ", 1001)+"a]"), `7:8 it has 1002 entries`},
		"files' volume":    {app("x", "storage: {catalog-files: {mount: /d, size: 1Gi}}", "files: {/a: b}"), `7:11 the volume of files is called so`},
		"dot":              {app("x", "storage: {data: {mount: /d, size: 5Xi}}", "env: {A.B: c}", "files: {/a.b: c}"), `7:29 storage.data.size is "5Xi"`},
		"version":          {strings.Replace(app("x"), "v1alpha1", "v9", 1), `1:1 apiVersion is "tidegate.dev/v9"`},
		"no tag":           {strings.Replace(app("x"), "x:1.0", "x", 1), `3:1 "example.net/x" has no tag`},
		"latest":           {strings.Replace(app("x"), "x:1.0", "x:latest", 1), `3:1 .*another image tomorrow`},
		"no image":         {strings.Replace(app("x"), "example.net/x:1.0", `"a b"`, 1), `3:1 "a b" is no image`},
		"port":             {strings.Replace(app("x"), "8080", "80800", 1), `4:9 80800 is no port`},
		"port twice":       {strings.Replace(app("x"), "{http: 8080}", "{http: 8080, web: 8080}", 1), `4:21 port 8080 is also http`},
		"probe's port":     {strings.Replace(app("x"), "probe: {port: http}", "probe: {port: web}", 1), `5:9 probe.port names the port web, .* \| ports has http`},
		"no needs":         {app("x", "needs: [giteaa]"), `7:9 needs giteaa, which is no app .* \| write gitea`},
		"needs nothing":    {app("x", "needs: [nowhere]"), `7:9 needs nowhere, .* the tiers provide cnpg, keycloak, longhorn`},
		"needs itself":     {app("x", "needs: [x]"), `7:9 apps need each other in a circle.*: x needs x`},
		"host":             {app("x", "route: {host: https://x.example.net, port: http}"), `7:9 "https://x.example.net" is no host name`},
		"literal address":  {app("x", "l4: {address: 192.168.1.5, ports: [http]}"), `7:6 192.168.1.5 is an address of one environment.* \| .*\$\{X_L4_VIP\}`},
		"size":             {app("x", "storage: {data: {mount: /data, size: big}}"), `7:32 storage.data.size is "big", which is no amount`},
		"mount":            {app("x", "storage: {data: {mount: data, size: 1Gi}}"), `7:18 "data" is no absolute path`},
		"mount twice":      {app("x", "storage:", "  a: {mount: /data, size: 1Gi}", "  b: {mount: /data, scratch: true}"), `9:7 /data is also the place of storage.a.mount`},
		"secret":           {app("x", "env: {A: {secret: s, key: k}}"), `7:7 the Secret s is none of the app's`},
		"secret's key":     {app("x", "secrets: {s: {keys: {a: text}}}", "env: {A: {secret: s, key: k}}"), `8:7 the Secret s has no key k`},
		"database's value": {app("x", "env: {A: {database: host}}"), `7:7 the app has no database`},
		"word":             {app("x", "database: {size: 1Gi}", "backup: {database: never}", "env: {A: {database: port}}"), `9:21 env.A.database is "port" \| write one of host, name, username, password`},
		"no backup":        {app("x", "database: {size: 1Gi}"), `7:1 nothing says when the database is backed up`},
		"five fields":      {app("x", "database: {size: 1Gi}", "backup: {database: 0 3 * * *}"), `8:10 "0 3 \* \* \*" is no schedule of six fields`},
		"no volume":        {app("x", "backup: {without: [media]}"), `7:20 media is no volume of the app`},
		"manifest":         {app("x", "manifests: [more.yaml]"), `7:13 catalog/x/more.yaml does not exist`},
		"manifest's place": {app("x", "manifests: [../../etc/passwd]"), `7:13 "../../etc/passwd" is no name of a manifest`},
		"reserved":         {app("x", "manifests: [service.yaml]"), `7:13 service.yaml is the name of a file that is made already`},
		"replicas":         {app("x", "replicas: \"3\"", "storage: {data: {mount: /d, size: 1Gi}}"), `7:1 an app with a volume runs once`},
	} {
		t.Run(name, func(t *testing.T) {
			files := start.over("-- catalog/gitea.yaml --\n" + app("gitea"))
			files["catalog/x.yaml"] = c.file
			p, problems, err := catalog.Render(files, files, settings, false)
			if err != nil {
				t.Fatal(err)
			}
			if len(problems) != 1 {
				t.Errorf("%d problems", len(problems))
			}
			if len(p.Changes) > 0 {
				t.Errorf("%d changes are planned all the same", len(p.Changes))
			}
			got := ""
			for _, x := range problems {
				got += fmt.Sprintf("%d:%d %s | %s\n", x.Place.Line, x.Place.Column, x.Message, x.Fix)
				if x.Place.File != "catalog/x.yaml" {
					t.Errorf("it is told of %s", x.Place.File)
				}
			}
			if !regexp.MustCompile(`(?m)^` + strings.Replace(c.want, " | ", ` \| .*`, 1)).MatchString(got) {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// Apps that share what only one can have, and circles of several, are told at the second one.
func TestTogether(t *testing.T) {
	for name, c := range map[string]struct{ archive, want string }{
		"volume":  {"-- catalog/a.yaml --\n" + app("a", "storage: {b-c: {mount: /d, size: 1Gi, local: {path: /d, node: n}}}") + "-- catalog/a-b.yaml --\n" + app("a-b", "storage: {c: {mount: /d, size: 1Gi, local: {path: /d, node: n}}}"), `catalog/a.yaml:7:11 the volume a-b-c is also that of a-b (catalog/a-b.yaml:7)`},
		"host":    {"-- catalog/a.yaml --\n" + app("a", "route: {host: x.example.net, port: http}") + "-- catalog/b.yaml --\n" + app("b", "route: {host: x.example.net, port: http}"), `catalog/b.yaml:7:9 the host x.example.net is also that of a (catalog/a.yaml:7)`},
		"address": {"-- catalog/a.yaml --\n" + app("a", "l4: {address: \"${VIP}\", ports: [http]}") + "-- catalog/b.yaml --\n" + app("b", "l4: {address: \"${VIP}\", ports: [http]}"), `catalog/b.yaml:7:6 the address ${VIP} is also that of a (catalog/a.yaml:7)`},
		"circle":  {"-- catalog/a.yaml --\n" + app("a", "needs: [b]") + "-- catalog/b.yaml --\n" + app("b", "needs: [c]") + "-- catalog/c.yaml --\n" + app("c", "needs: [a]"), `catalog/c.yaml:7:9 apps need each other in a circle, so that none could be first: a needs b needs c needs a`},
		"yml":     {"-- catalog/a.yml --\n" + app("a"), `catalog/a.yml:1:1 it ends in .yml and is not read`},
	} {
		files := start.over(c.archive)
		_, problems, err := catalog.Render(files, files, settings, false)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, x := range problems {
			got += fmt.Sprintf("%s:%d:%d %s\n", x.Place.File, x.Place.Line, x.Place.Column, x.Message)
		}
		if got != c.want+"\n" {
			t.Errorf("%s: got\n%swant\n%s", name, got, c.want)
		}
	}
}

// Whatever a file holds, reading it ends, with places that are in it.
func FuzzRead(f *testing.F) {
	f.Add(app("x", "storage: {data: {mount: /data, size: 5Gi}}", "env: {A: {secret: s, key: k}}"))
	f.Add("a: &a [*a]\n")
	f.Add("name: {x: {y: [1, 2, {}]}}\n? [a]\n: b\n")
	f.Add("\xff\xfe")
	f.Add("name: !!binary x\nports: !!map\n")
	f.Fuzz(func(t *testing.T, text string) {
		files := start.over("")
		files["catalog/x.yaml"] = text
		_, problems, err := catalog.Render(files, files, settings, false)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Count(text, "\n") + 2
		for _, p := range problems {
			if p.Place.Line < 1 || p.Place.File == "catalog/x.yaml" && p.Place.Line > lines || p.Message == "" {
				t.Fatalf("%+v", p)
			}
		}
	})
}
