package reference_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/google/go-cmp/cmp"
)

// field returns a nested value by a dotted path; numbers index lists.
func field(t *testing.T, o *unstructured.Unstructured, path ...any) any {
	t.Helper()
	var v any = o.Object
	for _, step := range path {
		switch s := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[s]
		case int:
			l, _ := v.([]any)
			if s >= len(l) {
				t.Fatalf("%s: %v has no element %d", id(o), path, s)
			}
			v = l[s]
		}
	}
	return v
}

// named returns the element of a list of maps with that name.
func named(t *testing.T, list any, name string) map[string]any {
	t.Helper()
	l, _ := list.([]any)
	for _, v := range l {
		if m, _ := v.(map[string]any); m["name"] == name {
			return m
		}
	}
	t.Fatalf("no element named %q in %v", name, list)
	return nil
}

func userData(t *testing.T, e *environment) string {
	t.Helper()
	vm := e.find(t, "VirtualMachine", "unifi")
	volume := named(t, field(t, vm, "spec", "template", "spec", "volumes"), "cloudinit")
	source, _ := volume["cloudInitNoCloud"].(map[string]any)
	s, _ := source["userData"].(string)
	return s
}

// guestFile returns what cloud-init writes to that path in the guest.
func guestFile(t *testing.T, e *environment, path string) string {
	t.Helper()
	var config struct {
		WriteFiles []struct {
			Path        string `json:"path"`
			Permissions string `json:"permissions"`
			Content     string `json:"content"`
		} `json:"write_files"`
	}
	if err := yaml.Unmarshal([]byte(userData(t, e)), &config); err != nil {
		t.Fatal(err)
	}
	for _, f := range config.WriteFiles {
		if f.Path == path {
			return f.Content
		}
	}
	t.Fatalf("cloud-init writes no %s", path)
	return ""
}

// KubeVirt refuses more than 2048 bytes, counted after substitution; and the escapes must have
// come out as shell.
func TestUserData(t *testing.T) {
	for _, env := range environments {
		text := userData(t, render(t, env))
		if n := len(text); n > 2048 || n == 0 {
			t.Errorf("%s: userData has %d bytes, and KubeVirt takes 1 to 2048", env, n)
		} else {
			t.Logf("%s: userData has %d bytes", env, n)
		}
		if !strings.HasPrefix(text, "#cloud-config\n") {
			t.Errorf("%s: userData does not begin with #cloud-config", env)
		}
		if !strings.Contains(text, "/var/tmp/${URL##*/}") || strings.Contains(text, "$$") {
			t.Errorf("%s: an escape did not come out as shell:\n%s", env, text)
		}
	}
}

// The guest's script, run with the system's commands replaced by recorders.
func TestInstallScript(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash on this machine")
	}
	script := guestFile(t, render(t, "prod"), "/usr/local/sbin/install-uos")
	const url = "https://downloads.example.net/releases/uos-x64"
	for _, tc := range []struct {
		name, url, password string
		installed, refuses  bool // systemd knows the unit; the installer takes no argument
		want, not           []string
		fails               bool
	}{
		{name: "first boot", url: url + "\n", password: "a$b'c d",
			want: []string{"chpasswd ubuntu:a$b'c d", "curl " + url, "installer install", "umount"}},
		{name: "installer without subcommand", url: url, refuses: true,
			want: []string{"installer install", "installer \n", "umount"}},
		{name: "already installed", url: url, password: "new", installed: true,
			want: []string{"chpasswd ubuntu:new", "umount"}, not: []string{"curl", "installer"}},
		{name: "no password", url: url, installed: true, not: []string{"chpasswd", "installer"}, want: []string{"umount"}},
		{name: "no URL", url: "replace-me", fails: true, not: []string{"curl", "installer"}, want: []string{"umount"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			log := filepath.Join(dir, "log")
			bin, data, tmp := filepath.Join(dir, "bin"), filepath.Join(dir, "data"), filepath.Join(dir, "tmp")
			for _, d := range []string{bin, data, tmp} {
				if err := os.Mkdir(d, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			write := func(path, text string) {
				t.Helper()
				if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			write(filepath.Join(data, "installer-url"), tc.url)
			write(filepath.Join(data, "console-password"), tc.password)
			fake := func(name, body string) {
				write(filepath.Join(bin, name), "#!"+bash+"\n"+strings.ReplaceAll(body, "LOG", log)+"\n")
			}
			installer := "[ ! -t 0 ] && read -r answer && [ \"$answer\" = y ] || exit 3; printf 'installer %s\\n' \"$*\" >>" + log
			if tc.refuses {
				installer += "; [ $# -eq 0 ]"
			}
			write(filepath.Join(dir, "installer"), "#!"+bash+"\n"+installer+"\n")
			fake("mount", "exit 0")
			fake("umount", "echo umount >>LOG")
			fake("chpasswd", "printf 'chpasswd %s\\n' \"$(cat)\" >>LOG")
			fake("systemctl", map[bool]string{true: "exit 0", false: "exit 1"}[tc.installed])
			fake("curl", "echo curl \"${@: -1}\" >>LOG; while [ $# -gt 0 ]; do [ \"$1\" = -o ] && cp "+filepath.Join(dir, "installer")+" \"$2\"; shift; done; exit 0")
			text := strings.NewReplacer("D=/run/uosdata", "D="+data, "/var/tmp/", tmp+"/").Replace(script)
			path := filepath.Join(dir, "install-uos")
			write(path, text)
			cmd := exec.Command(bash, path)
			cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH")}
			out, err := cmd.CombinedOutput()
			if (err != nil) != tc.fails {
				t.Fatalf("script: %v\n%s", err, out)
			}
			got, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range tc.want {
				if !strings.Contains(string(got), w) {
					t.Errorf("did not do %q; did:\n%s", w, got)
				}
			}
			for _, n := range tc.not {
				if strings.Contains(string(got), n) {
					t.Errorf("did %q; did:\n%s", n, got)
				}
			}
		})
	}
}

// The VM, its disk, its Service and its policy agree with each other.
func TestMachineHangsTogether(t *testing.T) {
	for _, env := range environments {
		e := render(t, env)
		vm, dv := e.find(t, "VirtualMachine", "unifi"), e.find(t, "DataVolume", "unifi-root")
		svc, cnp := e.find(t, "Service", "unifi-l4"), e.find(t, "CiliumNetworkPolicy", "unifi")
		spec := func(path ...any) any { return field(t, vm, append([]any{"spec", "template", "spec"}, path...)...) }

		storage, _ := field(t, dv, "spec", "storage").(map[string]any)
		want := map[string]any{"storageClassName": "longhorn-vm", "resources": map[string]any{"requests": map[string]any{"storage": "40Gi"}}}
		if d := cmp.Diff(want, storage); d != "" {
			t.Errorf("%s: disk, want (-) and got (+); access modes come from the StorageProfile:\n%s", env, d)
		}
		if s, _ := spec("domain", "firmware", "uuid").(string); !regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`).MatchString(s) {
			t.Errorf("%s: firmware uuid %q is not pinned", env, s)
		}
		secret, _ := named(t, spec("volumes"), "uosdata")["secret"].(map[string]any)
		if secret["secretName"] != "unifi-uos-installer" || secret["volumeLabel"] != "UOSDATA" {
			t.Errorf("%s: the installer's disk is %v", env, secret)
		}
		e.find(t, "Secret", "unifi-uos-installer")

		labels := field(t, vm, "spec", "template", "metadata", "labels")
		for what, got := range map[string]any{
			"Service":             field(t, svc, "spec", "selector"),
			"CiliumNetworkPolicy": field(t, cnp, "spec", "endpointSelector", "matchLabels"),
		} {
			if d := cmp.Diff(labels, got); d != "" {
				t.Errorf("%s: labels of the VM (-) and selector of the %s (+):\n%s", env, what, d)
			}
		}
		ports := func(list any, key string) (s []string) {
			l, _ := list.([]any)
			for _, v := range l {
				s = append(s, fmt.Sprint(v.(map[string]any)[key]))
			}
			return sorted(s)
		}
		open := []string{"11443", "8080", "8443"}
		for what, got := range map[string][]string{
			"interface":        ports(spec("domain", "devices", "interfaces", 0, "ports"), "port"),
			"Service":          ports(field(t, svc, "spec", "ports"), "port"),
			"Service targets":  ports(field(t, svc, "spec", "ports"), "targetPort"),
			"policy for LAN":   ports(field(t, cnp, "spec", "ingress", 0, "toPorts", 0, "ports"), "port"),
			"policy for nodes": ports(field(t, cnp, "spec", "ingress", 1, "toPorts", 0, "ports"), "port"),
		} {
			if !slices.Equal(got, open) {
				t.Errorf("%s: ports of the %s are %v, want %v (and not 22)", env, what, got, open)
			}
		}
		if got := field(t, svc, "spec", "externalTrafficPolicy"); got != "Cluster" {
			t.Errorf("%s: externalTrafficPolicy is %v", env, got)
		}
		if got := field(t, cnp, "spec", "ingress", 0, "fromCIDR", 0); got != e.vars["LAN_CIDR"] {
			t.Errorf("%s: the policy admits %v", env, got)
		}
	}
}

// The runbook says what is rendered.
func TestRunbook(t *testing.T) {
	const dir = "apps/vms/unifi/"
	text := read(t, dir+"README.md")
	facts := []string{"40Gi on StorageClass `longhorn-vm`", "`externalTrafficPolicy: Cluster`", "**SSH cannot work.**", "`sops-age`", "`UOSDATA`", "about 25 GB"}
	var s settings
	readYAML(t, "tidegate.yaml", &s)
	for _, env := range environments {
		e := render(t, env)
		for _, knob := range []string{"UNIFI_L4_VIP", "CILIUM_LB_POOL_START", "CILIUM_LB_POOL_STOP", "LAN_CIDR"} {
			facts = append(facts, e.vars[knob])
		}
		for _, n := range s.Environments[env].Nodes {
			facts = append(facts, "`"+n.Name+"`")
		}
	}
	for _, f := range facts {
		if !strings.Contains(text, f) {
			t.Errorf("the runbook does not say %q", f)
		}
	}
	files := regexp.MustCompile("`([a-z-]+(?:\\.sops)?\\.yaml(?:\\.example)?)`").FindAllStringSubmatch(text, -1)
	if len(files) < 5 {
		t.Errorf("the runbook names only %d files", len(files))
	}
	for _, m := range files {
		if !slices.Contains(repositoryFiles(t), dir+m[1]) {
			t.Errorf("the runbook names %s, which is not there", m[1])
		}
	}
}
