package catalog

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Kinds that Kubernetes' own modules do not have, as far as the catalog writes them. Their fields are those of the CRDs of the
// versions that the platform installs; their modules would bring whole operators.

// httpRoute is gateway.networking.k8s.io/v1 HTTPRoute.
type httpRoute struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              httpRouteSpec `json:"spec"`
}

type httpRouteSpec struct {
	ParentRefs []parentRef `json:"parentRefs"`
	Hostnames  []string    `json:"hostnames"`
	Rules      []routeRule `json:"rules"`
}

type parentRef struct {
	Name        string `json:"name"`
	Namespace   string `json:"namespace"`
	SectionName string `json:"sectionName"`
}

type routeRule struct {
	BackendRefs []backendRef `json:"backendRefs"`
}

type backendRef struct {
	Name string `json:"name"`
	Port int    `json:"port"`
}

// cluster is postgresql.cnpg.io/v1 Cluster. Its instances may be a ${TOKEN}.
type cluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              clusterSpec `json:"spec"`
}

type clusterSpec struct {
	ImageName string         `json:"imageName,omitempty"`
	Instances any            `json:"instances"`
	Storage   clusterStorage `json:"storage"`
	Bootstrap struct {
		InitDB initDB `json:"initdb"`
	} `json:"bootstrap"`
	Plugins           []clusterPlugin `json:"plugins,omitempty"`
	InheritedMetadata struct {
		Annotations map[string]string `json:"annotations"`
	} `json:"inheritedMetadata"`
}

type clusterStorage struct {
	StorageClass string `json:"storageClass,omitempty"`
	Size         string `json:"size"`
}

type initDB struct {
	Database string `json:"database"`
	Owner    string `json:"owner"`
}

type clusterPlugin struct {
	Name          string            `json:"name"`
	IsWALArchiver bool              `json:"isWALArchiver"`
	Parameters    map[string]string `json:"parameters"`
}

// objectStore is barmancloud.cnpg.io/v1 ObjectStore.
type objectStore struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		RetentionPolicy string `json:"retentionPolicy,omitempty"`
		Configuration   struct {
			DestinationPath string      `json:"destinationPath"`
			EndpointURL     string      `json:"endpointURL,omitempty"`
			S3Credentials   s3Keys      `json:"s3Credentials"`
			WAL             compression `json:"wal"`
			Data            compression `json:"data"`
		} `json:"configuration"`
	} `json:"spec"`
}

type s3Keys struct {
	AccessKeyID     keyRef `json:"accessKeyId"`
	SecretAccessKey keyRef `json:"secretAccessKey"`
}

type keyRef struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

type compression struct {
	Compression string `json:"compression"`
}

// scheduledBackup is postgresql.cnpg.io/v1 ScheduledBackup.
type scheduledBackup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Schedule             string            `json:"schedule"`
		BackupOwnerReference string            `json:"backupOwnerReference"`
		Method               string            `json:"method"`
		PluginConfiguration  map[string]string `json:"pluginConfiguration"`
		Cluster              map[string]string `json:"cluster"`
	} `json:"spec"`
}

// networkPolicy is cilium.io/v2 CiliumNetworkPolicy. Kubernetes' own NetworkPolicy cannot name the Gateway: its traffic
// arrives with Cilium's reserved identity ingress.
type networkPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		EndpointSelector selector     `json:"endpointSelector"`
		Ingress          []policyRule `json:"ingress"`
		Egress           []policyRule `json:"egress"`
	} `json:"spec"`
}

type selector struct {
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
}

type policyRule struct {
	FromEndpoints []selector    `json:"fromEndpoints,omitempty"`
	FromEntities  []string      `json:"fromEntities,omitempty"`
	FromCIDR      []string      `json:"fromCIDR,omitempty"`
	ToEndpoints   []selector    `json:"toEndpoints,omitempty"`
	ToEntities    []string      `json:"toEntities,omitempty"`
	ToPorts       []policyPorts `json:"toPorts,omitempty"`
}

type policyPorts struct {
	Ports []policyPort `json:"ports"`
}

type policyPort struct {
	Port     string `json:"port"`
	Protocol string `json:"protocol"`
}

// fluxKustomization is kustomize.toolkit.fluxcd.io/v1 Kustomization. Its durations are texts, so that 1h stays 1h.
type fluxKustomization struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              fluxSpec `json:"spec"`
}

type fluxSpec struct {
	DependsOn        []nameRef    `json:"dependsOn,omitempty"`
	Interval         string       `json:"interval"`
	RetryInterval    string       `json:"retryInterval"`
	Timeout          string       `json:"timeout"`
	Prune            bool         `json:"prune"`
	Wait             bool         `json:"wait"`
	HealthCheckExprs []healthExpr `json:"healthCheckExprs,omitempty"`
	Path             string       `json:"path"`
	SourceRef        kindRef      `json:"sourceRef"`
	Decryption       *decryption  `json:"decryption,omitempty"`
	PostBuild        *postBuild   `json:"postBuild,omitempty"`
}

type nameRef struct {
	Name string `json:"name"`
}

type kindRef struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

type healthExpr struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Current    string `json:"current"`
}

type decryption struct {
	Provider  string  `json:"provider"`
	SecretRef nameRef `json:"secretRef"`
}

type postBuild struct {
	SubstituteFrom []kindRef `json:"substituteFrom"`
}

// kustomizationFile is kustomize.config.k8s.io/v1beta1 Kustomization.
type kustomizationFile struct {
	metav1.TypeMeta `json:",inline"`
	Resources       []string      `json:"resources"`
	Patches         []targetPatch `json:"patches,omitempty"`
}

type targetPatch struct {
	Target map[string]string `json:"target"`
	Patch  string            `json:"patch"`
}
