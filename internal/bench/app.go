package bench

import (
	"fmt"
	"strconv"
	"strings"
)

// app writes apps/app-NNN: the objects of the templates until there are enough, one of them generated.
func (w *writer) app(n, objects int) {
	name := appName(n)
	dir := "apps/" + name + "/"
	left := objects - 1
	var resources []string
	add := func(file, template string, values ...string) {
		docs := w.documents(template)
		if len(docs) > left {
			docs = docs[:left]
		}
		if len(docs) == 0 {
			return
		}
		left -= len(docs)
		text := strings.TrimSuffix(strings.Join(docs, ""), "---\n")
		resources = append(resources, file)
		w.file(dir+file, strings.NewReplacer(append(values,
			"@APP@", name,
			"@N@", strconv.Itoa(n%40),
			"@SIZE@", strconv.Itoa(1+n%20),
			"@MINUTE@", strconv.Itoa(n%60),
		)...).Replace(text))
	}
	for _, part := range []string{"web", "identity", "config", "worker", "policy", "monitoring"} {
		add(part+".yaml", part+".yaml")
	}
	worker := len(resources) >= 4 // whether worker.yaml is among them
	for shard := 0; left > 0; shard++ {
		add(fmt.Sprintf("shard-%d.yaml", shard), "shard.yaml", "@SHARD@", strconv.Itoa(shard))
	}
	w.file(dir+"files/nginx.conf", nginx(name))
	w.kustomization(n, dir, resources, worker)
}

func (w *writer) kustomization(n int, dir string, resources []string, worker bool) {
	name := appName(n)
	var b strings.Builder
	b.WriteString("---\n# yaml-language-server: $schema=https://json.schemastore.org/kustomization\napiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n")
	if n%3 != 0 { // the others are placed by spec.targetNamespace
		fmt.Fprintf(&b, "namespace: %s\n", name)
	}
	b.WriteString("resources:\n")
	for _, file := range resources {
		fmt.Fprintf(&b, "  - ./%s\n", file)
	}
	b.WriteString("configMapGenerator:\n  - name: proxy\n    files: [files/nginx.conf]\n")
	if n%2 == 0 {
		b.WriteString("patches:\n  - path: patch.yaml\n")
		w.file(dir+"patch.yaml", `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      terminationGracePeriodSeconds: 60
      containers:
        - name: web
          env:
            - name: EXTRA_HOST
              value: extra.${DOMAIN}
`)
	}
	if n%5 == 0 {
		fmt.Fprintf(&b, "images:\n  - name: registry.example.org/shop/web\n    newTag: 2.%d.1\n", n%7)
	}
	if n%3 == 1 {
		b.WriteString("labels:\n  - pairs: {app.kubernetes.io/part-of: shop}\n    includeTemplates: true\n")
	}
	if n%8 == 3 && worker {
		b.WriteString("replicas:\n  - name: worker\n    count: 3\n")
	}
	w.file(dir+"kustomization.yaml", b.String())
}

func nginx(name string) string {
	return `worker_processes auto;
events { worker_connections 1024; }
http {
  log_format main '$remote_addr "$request" $status';
  upstream app { server web.` + name + `.svc.cluster.local:80; }
  server {
    listen 8080;
    server_name ` + name + `.${DOMAIN};
    location / {
      proxy_pass http://app;
      proxy_set_header Host $host;
    }
  }
}
`
}
