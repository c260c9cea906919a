package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Annotations and labels of others that the output bears.
const (
	nameLabel       = "app.kubernetes.io/name"
	pruneAnnotation = "kustomize.toolkit.fluxcd.io/prune" // kustomize-controller keeps what says disabled
	lbAnnotation    = "lbipam.cilium.io/ips"              // Cilium's LB-IPAM gives the Service this address
	veleroExcludes  = "backup.velero.io/backup-volumes-excludes"
)

// maker makes the objects of one app.
type maker struct {
	c *Catalog
	a *App
	// held: the app changes its wave, so nothing of it may be pruned by who owned it.
	held bool
}

func (m *maker) meta(name string, keep bool) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{Name: name, Namespace: m.a.Name}
	if keep {
		meta.Annotations = map[string]string{pruneAnnotation: "disabled"}
	}
	return meta
}

func kind(apiVersion, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: apiVersion, Kind: kind}
}

func (m *maker) labels() map[string]string { return map[string]string{nameLabel: m.a.Name} }

// stateful tells whether deleting the app's namespace would lose data.
func (a *App) stateful() bool { return a.keeps() || a.Database != nil }

func (m *maker) namespace() object {
	ns := &corev1.Namespace{TypeMeta: kind("v1", "Namespace"), ObjectMeta: m.meta(m.a.Name, m.a.stateful())}
	ns.Namespace = ""
	o := object{value: ns}
	if m.a.stateful() {
		o.comment = "Not pruned: deleting a namespace deletes the volumes claimed in it."
	}
	return o
}

func (m *maker) deployment() object {
	a := m.a
	d := &appsv1.Deployment{TypeMeta: kind("apps/v1", "Deployment"), ObjectMeta: m.meta(a.Name, false)}
	d.Labels = m.labels()
	o := object{value: d, comment: strings.TrimRight(a.About, "\n"), tokens: map[string]string{}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: m.labels()}
	replicas := int32(1)
	if n, err := strconv.ParseInt(a.Replicas, 10, 32); err == nil {
		replicas = int32(n)
	} else if isToken(a.Replicas) {
		o.tokens["spec.replicas"] = a.Replicas
	}
	d.Spec.Replicas = &replicas
	if a.keeps() {
		// Two pods of a rolling update would want the one volume at once.
		d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType
	}
	d.Spec.Template.Labels = m.labels()
	d.Spec.Template.Annotations = m.podAnnotations()
	no := false
	pod := &d.Spec.Template.Spec
	pod.AutomountServiceAccountToken = &no
	// Kubernetes would set <SERVICE>_PORT for each Service of the namespace, and apps take that for their own settings.
	pod.EnableServiceLinks = &no
	pod.SecurityContext = &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
	container := corev1.Container{
		Name: a.Name, Image: a.Image, ImagePullPolicy: corev1.PullIfNotPresent, Args: a.Args, Env: m.environment(),
	}
	if a.User > 0 {
		id, yes := int64(a.User), true
		pod.SecurityContext.RunAsNonRoot, pod.SecurityContext.RunAsUser, pod.SecurityContext.RunAsGroup, pod.SecurityContext.FSGroup = &yes, &id, &id, &id
		container.SecurityContext = &corev1.SecurityContext{AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}
	}
	for _, p := range a.Ports {
		port := corev1.ContainerPort{Name: p.Name, ContainerPort: int32(p.Port)}
		if p.Protocol == "UDP" {
			port.Protocol = corev1.ProtocolUDP
		}
		container.Ports = append(container.Ports, port)
	}
	container.StartupProbe, container.ReadinessProbe = m.probes()
	m.mounts(pod, &container)
	pod.Containers = []corev1.Container{container}
	plain := object{value: d, comment: o.comment, tokens: o.tokens}.plain()
	m.resources(plain)
	return object{value: plain, comment: o.comment}
}

// resources sets what may be ${TOKEN}s, which no Quantity can be.
func (m *maker) resources(deployment map[string]any) {
	r := m.a.Resources
	if r == nil {
		return
	}
	out := map[string]any{"requests": map[string]any{"cpu": r.CPU, "memory": r.Memory}}
	if limit := memoryLimit(r); limit != "" {
		out["limits"] = map[string]any{"memory": limit}
	}
	spec := deployment["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
	spec["containers"].([]any)[0].(map[string]any)["resources"] = out
}

// memoryLimit is four times the request when nothing else is said.
func memoryLimit(r *Resources) string {
	switch {
	case r.MemoryLimit == "none":
		return ""
	case r.MemoryLimit != "":
		return r.MemoryLimit
	}
	q, err := resource.ParseQuantity(r.Memory)
	if err != nil {
		return "" // a ${TOKEN}
	}
	q.Mul(4)
	return q.String()
}

// podAnnotations restart the app when a file changes, since a file that is mounted by itself is never updated, and tell
// Velero what to leave out.
func (m *maker) podAnnotations() map[string]string {
	out := map[string]string{}
	if len(m.a.Files) > 0 {
		h := sha256.New()
		for _, f := range m.a.Files {
			fmt.Fprintf(h, "%q %q\n", f.Path, f.Text)
		}
		out["tidegate.dev/files"] = "sha256-" + hex.EncodeToString(h.Sum(nil))[:16]
	}
	var without []string
	if m.a.Backup != nil {
		without = append(without, m.a.Backup.Without...)
	}
	for _, v := range m.a.Storage {
		if v.Scratch {
			without = append(without, v.Name)
		}
	}
	if len(without) > 0 {
		out[veleroExcludes] = strings.Join(without, ",")
	}
	return out
}

func (m *maker) environment() (out []corev1.EnvVar) {
	secret := func(name, secret, key string) corev1.EnvVar {
		return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: key}}}
	}
	for _, e := range m.a.Env {
		switch {
		case e.Secret != "":
			out = append(out, secret(e.Name, e.Secret, e.Key))
		case e.Database == "host":
			out = append(out, corev1.EnvVar{Name: e.Name, Value: m.databaseName() + "-rw"})
		case e.Database == "name":
			out = append(out, corev1.EnvVar{Name: e.Name, Value: m.database()})
		case e.Database != "":
			out = append(out, secret(e.Name, m.databaseName()+"-app", e.Database))
		case e.Login == "issuer":
			out = append(out, corev1.EnvVar{Name: e.Name, Value: m.c.Settings.Issuer})
		case e.Login != "":
			out = append(out, secret(e.Name, m.a.Name+"-oidc", e.Login))
		default:
			out = append(out, corev1.EnvVar{Name: e.Name, Value: e.Value})
		}
	}
	return out
}

func (m *maker) probes() (startup, ready *corev1.Probe) {
	p := m.a.Probe
	handler := corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString(p.Port)}}
	if p.Path != "" {
		get := &corev1.HTTPGetAction{Path: p.Path, Port: intstr.FromString(p.Port)}
		if p.Host != "" {
			get.HTTPHeaders = []corev1.HTTPHeader{{Name: "Host", Value: p.Host}}
		}
		handler = corev1.ProbeHandler{HTTPGet: get}
	}
	ready = &corev1.Probe{ProbeHandler: handler, PeriodSeconds: 10}
	if d, err := time.ParseDuration(p.Startup); err == nil {
		startup = &corev1.Probe{ProbeHandler: handler, PeriodSeconds: 10, FailureThreshold: int32((d + 10*time.Second - 1) / (10 * time.Second))}
	}
	return startup, ready
}

func (m *maker) mounts(pod *corev1.PodSpec, container *corev1.Container) {
	for _, v := range m.a.Storage {
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: v.Name, MountPath: v.Mount, ReadOnly: v.ReadOnly})
		volume := corev1.Volume{Name: v.Name}
		if v.Scratch {
			volume.EmptyDir = &corev1.EmptyDirVolumeSource{}
		} else {
			volume.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: m.claim(v)}
		}
		pod.Volumes = append(pod.Volumes, volume)
	}
	if len(m.a.Files) == 0 {
		return
	}
	const files = filesVolume
	for _, f := range m.a.Files {
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: files, MountPath: f.Path, SubPath: path.Base(f.Path), ReadOnly: true})
	}
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: files, VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: m.a.Name + "-files"}}}})
}

// filesVolume is the volume of an app's files.
const filesVolume = "catalog-files"

func (m *maker) claim(v Volume) string { return m.a.Name + "-" + v.Name }

// storage makes the claims of an app's volumes, and the volumes that are folders of a node.
func (m *maker) storage() (out []object) {
	for _, v := range m.a.Storage {
		if v.Scratch {
			continue
		}
		class := m.c.Settings.StorageClass
		if v.Class != "" {
			class = v.Class
		}
		claim := &corev1.PersistentVolumeClaim{TypeMeta: kind("v1", "PersistentVolumeClaim"), ObjectMeta: m.meta(m.claim(v), true)}
		claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
		if v.Local != nil {
			class = m.claim(v)
			claim.Spec.VolumeName = m.claim(v)
			out = append(out, m.localVolume(v, class))
		}
		claim.Spec.StorageClassName = &class
		o := object{value: claim, tokens: map[string]string{"spec.resources.requests.storage": v.Size}}
		if v.Local != nil {
			o.comment = "No class of this name exists: the claim binds to the volume above and to nothing else."
		}
		out = append(out, o)
	}
	return out
}

func (m *maker) localVolume(v Volume, class string) object {
	pv := &corev1.PersistentVolume{TypeMeta: kind("v1", "PersistentVolume"), ObjectMeta: m.meta(m.claim(v), true)}
	pv.Namespace = ""
	pv.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	pv.Spec.StorageClassName = class
	pv.Spec.Local = &corev1.LocalVolumeSource{Path: v.Local.Path}
	pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "kubernetes.io/hostname", Operator: corev1.NodeSelectorOpIn, Values: []string{v.Local.Node}}}}}}}
	return object{value: pv, tokens: map[string]string{"spec.capacity.storage": v.Size},
		comment: "A folder of one node's disk. The node affinity is what brings the app to that node."}
}

func (m *maker) files() object {
	cm := &corev1.ConfigMap{TypeMeta: kind("v1", "ConfigMap"), ObjectMeta: m.meta(m.a.Name+"-files", false), Data: map[string]string{}}
	for _, f := range m.a.Files {
		cm.Data[path.Base(f.Path)] = f.Text
	}
	return object{value: cm}
}
