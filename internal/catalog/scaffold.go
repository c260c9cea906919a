package catalog

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Scaffold is a file for a new app: what it must say, and as comments what it may say. It is an error if the name cannot be
// an app's.
func Scaffold(name, domain string) ([]byte, error) {
	if len(validation.IsDNS1035Label(name)) > 0 || len(name) > 40 || name == strings.TrimSuffix(movesFile, ".yaml") || yamlWord(name) {
		return nil, fmt.Errorf("%q cannot be the name of an app: write at most 40 small letters, digits and dashes, a letter first, such as %s", name, label(name))
	}
	r := strings.NewReplacer("NAME", name, "DOMAIN", domain, "TOKEN", strings.ToUpper(strings.ReplaceAll(name, "-", "_")))
	return []byte(r.Replace(scaffold)), nil
}

const scaffold = `# An app of the platform: tidegate schema catalog says all that may stand here.
apiVersion: tidegate.dev/v1alpha1
name: NAME
about: What NAME is for.

# A release, never latest.
image: registry.k8s.io/e2e-test-images/agnhost:2.53
args: [netexec, --http-port=8080]
ports:
  http: 8080
# How to see that it can serve.
probe: {path: /healthz, port: http}
resources: {cpu: 50m, memory: 64Mi, memoryLimit: 256Mi}
# The user that it runs as, if the image bears it.
# user: 1000

# Text, or {secret: NAME, key: KEY}, {database: host|name|username|password}, {login: issuer|client-id|client-secret}.
# env:
#   TZ: Etc/UTC

# The name under which the shared Gateway serves it.
route: {host: "NAME.DOMAIN", port: http}
# An address of its own on the LAN; the knob belongs into cluster-vars.
# l4: {address: "${TOKEN_L4_VIP}", ports: [http]}

# What it keeps.
# storage:
#   data: {mount: /data, size: 5Gi}
# database: {size: "${STORAGE_DATABASE}"}
# backup: {database: "0 30 3 * * *"}

# Encrypted, in catalog/NAME/NAME-admin.sops.yaml.
# secrets:
#   NAME-admin:
#     about: The first administrator.
#     keys: {password: a password}
# login: {client: NAME}

# Other apps, or what the tiers provide. Its wave follows from this.
needs: []
`
