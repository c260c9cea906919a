package catalog

import (
	"fmt"
	"strconv"
	"strings"
)

func (m *maker) databaseName() string { return m.a.Name + "-db" }

// database is the name of the database within the cluster: a dash would have to be quoted in SQL.
func (m *maker) database() string {
	if d := m.a.Database; d != nil && d.Name != "" {
		return d.Name
	}
	return strings.ReplaceAll(m.a.Name, "-", "_")
}

const barmanPlugin = "barman-cloud.cloudnative-pg.io"

// databases makes the app's PostgreSQL cluster and its backups.
func (m *maker) databases() []object {
	d, s := m.a.Database, m.c.Settings
	name := m.databaseName()
	c := &cluster{TypeMeta: kind("postgresql.cnpg.io/v1", "Cluster"), ObjectMeta: m.meta(name, true)}
	c.Spec.ImageName = s.DatabaseImage
	c.Spec.Instances = s.DatabaseInstances
	if d.Instances != "" {
		c.Spec.Instances = d.Instances
	}
	if n, err := strconv.Atoi(fmt.Sprint(c.Spec.Instances)); err == nil {
		c.Spec.Instances = n
	}
	c.Spec.Storage = clusterStorage{StorageClass: s.StorageClass, Size: d.Size}
	c.Spec.Bootstrap.InitDB = initDB{Database: m.database(), Owner: m.database()}
	// Velero would copy the files of a running database: its own archive is the backup.
	c.Spec.InheritedMetadata.Annotations = map[string]string{veleroExcludes: "pgdata"}
	out := []object{{value: c, comment: fmt.Sprintf("The operator makes the Secret %s-app with the credentials, and the Service %s-rw, which\nfollows the primary. Not pruned: a Cluster that is deleted takes its volumes along.", name, name)}}
	if !m.archived() {
		return out
	}
	c.Spec.Plugins = []clusterPlugin{{Name: barmanPlugin, IsWALArchiver: true, Parameters: map[string]string{"barmanObjectName": name}}}
	if d.Server != "" {
		c.Spec.Plugins[0].Parameters["serverName"] = d.Server
	}
	store := &objectStore{TypeMeta: kind("barmancloud.cnpg.io/v1", "ObjectStore"), ObjectMeta: m.meta(name, false)}
	store.Spec.RetentionPolicy = s.DatabaseRetention
	conf := &store.Spec.Configuration
	conf.DestinationPath, conf.EndpointURL = s.DatabaseBucket, s.DatabaseEndpoint
	conf.S3Credentials = s3Keys{AccessKeyID: keyRef{name + "-s3", "ACCESS_KEY_ID"}, SecretAccessKey: keyRef{name + "-s3", "SECRET_ACCESS_KEY"}}
	conf.WAL, conf.Data = compression{"gzip"}, compression{"gzip"}
	backup := &scheduledBackup{TypeMeta: kind("postgresql.cnpg.io/v1", "ScheduledBackup"), ObjectMeta: m.meta(name+"-daily", false)}
	backup.Spec.Schedule = m.a.Backup.Database
	backup.Spec.BackupOwnerReference, backup.Spec.Method = "self", "plugin"
	backup.Spec.PluginConfiguration = map[string]string{"name": barmanPlugin}
	backup.Spec.Cluster = map[string]string{"name": name}
	return append(out, object{value: store}, object{value: backup, comment: "Six fields, seconds first."})
}

// archived tells whether the app's database is backed up.
func (m *maker) archived() bool {
	return m.a.Database != nil && m.a.Backup != nil && m.a.Backup.Database != "never" && m.a.Backup.Database != ""
}

// encrypted gives the Secrets that the app needs, declared or following from what it has.
func (m *maker) encrypted() []Secret {
	var out []Secret
	out = append(out, m.a.Secrets...)
	if m.a.Login != nil {
		out = append(out, Secret{Name: m.a.Name + "-oidc", About: fmt.Sprintf("The OpenID Connect client that the app is at %s.", m.c.Settings.Issuer),
			Keys: []Key{{"client-id", "the client's id, " + m.a.Login.Client}, {"client-secret", "the client's secret"}}})
	}
	if m.archived() {
		out = append(out, Secret{Name: m.databaseName() + "-s3", About: "Credentials of the off-cluster S3 that the database archives to.",
			Keys: []Key{{"ACCESS_KEY_ID", "the access key's name"}, {"SECRET_ACCESS_KEY", "the access key's secret"}}})
	}
	return out
}

// placeholder is what an example has for each value, in base64: replace-me.
const placeholder = "cmVwbGFjZS1tZQ=="

// example is the file that says what goes into an encrypted Secret.
func (m *maker) example(s Secret) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s.\n", exampleHeader, m.a.File)
	for line := range strings.Lines(s.About) {
		fmt.Fprintf(&b, "# %s\n", strings.TrimRight(line, "\n"))
	}
	file := s.Name + ".sops.yaml"
	fmt.Fprintf(&b, `# Copy this file to %[1]s, replace each value with the base64 of yours
# (printf %%s VALUE | base64 -w0), then: sops --encrypt --in-place %[1]s
# data and not stringData, because Flux substitutes variables in decrypted text: a $ in a
# stringData value would not arrive as it was written.
apiVersion: v1
kind: Secret
metadata:
  name: %[2]s
  namespace: %[3]s
type: Opaque
data:
`, file, s.Name, m.a.Name)
	for _, k := range s.Keys {
		fmt.Fprintf(&b, "  # %s\n  %s: %s\n", strings.ReplaceAll(k.What, "\n", " "), k.Name, placeholder)
	}
	return []byte(b.String())
}
