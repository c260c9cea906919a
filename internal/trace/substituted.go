package trace

import (
	"strings"
	"sync"

	yaml3 "go.yaml.in/yaml/v3"

	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/subst"
)

// Substituted traces an object after substitution. Its text was parsed again, so positions in it mean nothing; a value
// is traced by its path, and a variable that became a mapping or list owns what is below it.
type Substituted struct {
	// Before traces the object before substitution, whose text is Text.
	Before *Object
	// Eval substitutes in one scalar, with secrets left as they are written.
	Eval func(string) (subst.Result, error)
	// Variable tells of a variable.
	Variable func(name string) model.Variable

	mu   sync.Mutex
	keys map[*branch]map[string]*branch // of mappings that have expressions in their keys
}

// before finds the branch that a path of the substituted object comes from.
func (s *Substituted) before(p model.Path) *branch {
	b := s.Before.grown().root
	for _, step := range p {
		if b == nil || b.node.Kind == yaml3.ScalarNode {
			return b // a variable that became a mapping or list
		}
		next := b.find([]any{step})
		if key, ok := step.(string); ok && next == nil && b.node.Kind == yaml3.MappingNode {
			next = s.renamed(b)[key]
		}
		if next == nil {
			return nil
		}
		b = next
	}
	return b
}

// renamed gives the children of a mapping by their keys after substitution.
func (s *Substituted) renamed(b *branch) map[string]*branch {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m, ok := s.keys[b]; ok {
		return m
	}
	m := map[string]*branch{}
	for i, k := range b.keys {
		if !subst.HasExpression(k) {
			continue
		}
		if res, err := s.Eval(k); err == nil {
			var key string
			if yaml3.Unmarshal([]byte(res.Text), &key) != nil {
				key = res.Text
			}
			m[key] = b.kids[i]
		}
	}
	if s.keys == nil {
		s.keys = map[*branch]map[string]*branch{}
	}
	s.keys[b] = m
	return m
}

// Origin implements model.Tracer.
func (s *Substituted) Origin(p model.Path) model.Origin {
	b := s.before(p)
	if b == nil {
		return s.Before.whole()
	}
	out := s.Before.Origin(b.path())
	if b.node.Kind != yaml3.ScalarNode {
		return out
	}
	out.Uses = s.uses(b)
	return out
}

// uses gives the expressions of a scalar.
func (s *Substituted) uses(b *branch) []model.Use {
	text := b.node.Value
	if !subst.HasExpression(text) {
		return nil
	}
	res, err := s.Eval(text)
	if err != nil {
		return nil
	}
	var out []model.Use
	for _, seg := range res.Segments {
		u := model.Use{Text: text[seg.In:seg.InEnd], Names: seg.Names, Became: res.Text[seg.Out:seg.OutEnd], Default: seg.Defaulted, Opaque: seg.Opaque}
		if u.Names == nil {
			u.Names = []string{seg.Name}
		}
		u.Span, _ = s.Before.Within(b.path(), seg.In, seg.InEnd)
		for _, name := range u.Names {
			u.Variable = append(u.Variable, s.Variable(name))
		}
		out = append(out, u)
	}
	return out
}

// Key implements model.Tracer.
func (s *Substituted) Key(p model.Path) model.Span {
	if b := s.before(p); b != nil {
		return s.Before.Key(b.path())
	}
	return s.Before.whole().Span
}

// Within implements model.Tracer. The part is one of the substituted text: where it lies in what an expression became,
// the span is that of the expression.
func (s *Substituted) Within(p model.Path, from, to int) (model.Span, model.Certainty) {
	b := s.before(p)
	if b == nil {
		return s.Before.whole().Span, model.CertaintyObject
	}
	if b.node.Kind != yaml3.ScalarNode || !subst.HasExpression(b.node.Value) {
		return s.Before.Within(b.path(), from, to)
	}
	if strings.Contains(b.node.Value, "$$") {
		return partly(s.Before.Origin(b.path())) // each becomes one, and no segment says so
	}
	res, err := s.Eval(b.node.Value)
	if err != nil || from < 0 || to < from || to > len(res.Text) {
		return partly(s.Before.Origin(b.path()))
	}
	return s.Before.Within(b.path(), back(res, from, false), back(res, to, true))
}

// back carries an offset of a substituted text back to the text before; end tells that it is the end of a part.
func back(res subst.Result, at int, end bool) int {
	shift := 0
	for _, seg := range res.Segments {
		switch {
		case end && at <= seg.Out || !end && at < seg.Out:
			return at + shift
		case at < seg.OutEnd || end && at == seg.OutEnd:
			if end {
				return seg.InEnd
			}
			return seg.In
		}
		shift = seg.InEnd - seg.OutEnd
	}
	return at + shift
}
