// Package report holds the results that views read and machines parse. Its JSON is versioned: a field is never renamed
// or given another meaning within a version; new fields may appear.
package report

import (
	"time"

	"github.com/tidegate/tidegate/internal/model"
)

// RenderVersion is the version of Render's JSON.
const RenderVersion = "tidegate.dev/render/v1"

// Render is the result of `tidegate render`.
type Render struct {
	Version      string        `json:"version"`
	Repository   string        `json:"repository"`
	Applied      bool          `json:"applied"` // objects carry owner labels, normalisation and commonMetadata
	Secrets      bool          `json:"secretsShown"`
	Environments []Environment `json:"environments"`
	Summary      Summary       `json:"summary"`
	Warnings     []string      `json:"warnings,omitempty"`
}

// Summary counts.
type Summary struct {
	Environments int     `json:"environments"`
	Units        int     `json:"units"`
	Objects      int     `json:"objects"`
	OK           int     `json:"ok"`
	Failed       int     `json:"failed"`
	Unverified   int     `json:"unverified"`
	Seconds      float64 `json:"seconds"`
}

// Environment is one cluster.
type Environment struct {
	Name        string   `json:"name"`
	Entry       string   `json:"entry"`
	Root        string   `json:"root"`
	Found       string   `json:"found"`
	FluxVersion string   `json:"fluxVersion"`
	Strict      bool     `json:"strict"`
	Source      string   `json:"source,omitempty"` // KIND/NAMESPACE/NAME of the repository's own source
	Units       []Unit   `json:"units"`
	Applied     []Object `json:"appliedByHand,omitempty"`
	Reasons     []Reason `json:"reasons,omitempty"`
	Summary     Summary  `json:"summary"`
}

// Unit is a Kustomization or HelmRelease.
type Unit struct {
	Kind      string   `json:"kind"`
	Namespace string   `json:"namespace"`
	Name      string   `json:"name"`
	Parent    string   `json:"parent,omitempty"` // KIND/NAMESPACE/NAME
	Path      string   `json:"path,omitempty"`
	Source    string   `json:"source,omitempty"`
	DependsOn []string `json:"dependsOn,omitempty"`
	Suspended bool     `json:"suspended,omitempty"`
	Remote    string   `json:"remoteCluster,omitempty"`
	Status    string   `json:"status"` // ok, failed, unverified
	Reasons   []Reason `json:"reasons,omitempty"`
	Objects   []Object `json:"objects"`
	Files     []string `json:"files,omitempty"`
}

// Object is one rendered object. Manifest has secrets masked unless Render.Secrets.
type Object struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Namespace  string   `json:"namespace,omitempty"`
	Name       string   `json:"name"`
	Status     string   `json:"status"`           // ok, unverified
	Masked     bool     `json:"masked,omitempty"` // the manifest hides decrypted values
	Reasons    []Reason `json:"reasons,omitempty"`
	Manifest   string   `json:"manifest"`
	// Origins say where each value of the manifest comes from, when the render was asked to trace.
	Origins []Origin `json:"origins,omitempty"`
}

// Reason says why something failed or is unverified.
type Reason struct {
	Code    string  `json:"code"`
	Message string  `json:"message"`
	Subject string  `json:"subject,omitempty"`
	Fix     string  `json:"fix,omitempty"`
	Places  []Place `json:"places,omitempty"`
}

// Place is a position in a file of the repository. Line and column count from 1; absent when unknown.
type Place struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// NewRender makes the report. With secrets, manifests hold plaintext.
func NewRender(repository string, envs []*model.Environment, warnings []string, applied, secrets bool, took time.Duration) *Render {
	r := &Render{Version: RenderVersion, Repository: repository, Applied: applied, Secrets: secrets, Warnings: warnings, Environments: []Environment{}}
	for _, e := range envs {
		env := environment(e)
		env.Applied = objects(e.Applied, secrets, nil)
		for i, u := range e.Units {
			env.Units[i].Objects = objects(u.Objects, secrets, []Object{})
		}
		r.Environments = append(r.Environments, env)
		r.Summary.Environments++
		r.Summary.Units += env.Summary.Units
		r.Summary.Objects += env.Summary.Objects
		r.Summary.OK += env.Summary.OK
		r.Summary.Failed += env.Summary.Failed
		r.Summary.Unverified += env.Summary.Unverified
	}
	r.Summary.Seconds = float64(took.Round(time.Millisecond)) / float64(time.Second)
	return r
}

// Failed tells whether anything failed, so that the exit code must say so.
func (r *Render) Failed() bool {
	for _, e := range r.Environments {
		if e.Summary.Failed > 0 {
			return true
		}
		for _, reason := range e.Reasons {
			if reason.Code == string(model.CodeEntry) {
				return true
			}
		}
	}
	return false
}

// environment reports an environment and its units without their objects, which only a render tells of.
func environment(e *model.Environment) Environment {
	out := Environment{
		Name: e.Name, Entry: e.Entry, Root: e.Root, Found: e.Found, FluxVersion: e.FluxVersion, Strict: e.Strict,
		Reasons: reasons(e.Reasons), Units: []Unit{},
	}
	if e.Source.Name != "" {
		out.Source = e.Source.String()
	}
	out.Summary.Environments = 1
	for _, u := range e.Units {
		out.Summary.Units++
		out.Summary.Objects += len(u.Objects)
		switch u.Status {
		case model.StatusFailed:
			out.Summary.Failed++
		case model.StatusUnverified:
			out.Summary.Unverified++
		default:
			out.Summary.OK++
		}
		out.Units = append(out.Units, unit(u))
	}
	return out
}

func unit(u *model.Unit) Unit {
	out := Unit{
		Kind: u.ID.Kind, Namespace: u.ID.Namespace, Name: u.ID.Name, Path: u.Path, Suspended: u.Suspended,
		Remote: u.Remote, Status: string(u.Status), Reasons: reasons(u.Reasons), Files: u.Files,
	}
	if u.Parent != nil {
		out.Parent = u.Parent.String()
	}
	if u.Source.Name != "" {
		out.Source = u.Source.String()
	}
	for _, d := range u.DependsOn {
		out.DependsOn = append(out.DependsOn, d.Short())
	}
	return out
}

func objects(list []*model.Object, secrets bool, empty []Object) []Object {
	out := empty
	for _, o := range list {
		obj := Object{
			APIVersion: o.Ref.APIVersion, Kind: o.Ref.Kind, Namespace: o.Ref.Namespace, Name: o.Ref.Name,
			Status: string(model.StatusOK), Reasons: reasons(o.Unverified), Manifest: o.Display,
		}
		if secrets {
			obj.Manifest = o.YAML
		} else {
			obj.Masked = o.Secret()
		}
		obj.Origins = Origins(o)
		if len(o.Unverified) > 0 {
			obj.Status = string(model.StatusUnverified)
		}
		out = append(out, obj)
	}
	return out
}

func reasons(list []model.Reason) []Reason {
	var out []Reason
	for _, r := range list {
		n := Reason{Code: string(r.Code), Message: r.Message, Subject: r.Subject, Fix: r.Fix}
		for _, p := range r.Places {
			n.Places = append(n.Places, Place{p.File, p.Line, p.Column})
		}
		out = append(out, n)
	}
	return out
}
