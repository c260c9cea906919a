package rules

import (
	"fmt"
	"strconv"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/tidegate/tidegate/internal/facts"
	"github.com/tidegate/tidegate/internal/model"
	"github.com/tidegate/tidegate/internal/rule"
	"github.com/tidegate/tidegate/internal/rules/substitution"
	"github.com/tidegate/tidegate/internal/subst"
)

// This file is the part of TG0305 that judges what became of a text when it was read as YAML again.

// has tells whether an object has a path; a value of null counts.
func has(o *facts.Object, p model.Path) bool {
	switch parent := o.Get(p[:len(p)-1]...).(type) {
	case map[string]any:
		key, _ := p[len(p)-1].(string)
		_, ok := parent[key]
		return ok
	case []any:
		i, ok := p[len(p)-1].(int)
		return ok && i < len(parent)
	}
	return false
}

// otherKey says what a key is read as, when it is not the text that was put there.
func otherKey(after *facts.Object, p model.Path) string {
	text, _ := p[len(p)-1].(string)
	if _, ok := after.Get(p[:len(p)-1]...).(map[string]any); !ok || has(after, p) || quoted(text) {
		return ""
	}
	var alone map[string]any
	if sigsyaml.Unmarshal([]byte(text+": 0"), &alone) != nil || len(alone) != 1 {
		return ""
	}
	for key := range alone {
		if key != text && has(after, append(append(model.Path{}, p[:len(p)-1]...), key)) {
			return "is read as the key " + strconv.Quote(short(key))
		}
	}
	return ""
}

// staysText tells, without looking at the object, that YAML reads a text as itself wherever it stands alone: it begins
// with a letter, has nothing that means something to YAML, and is no word for a boolean or for nothing. It may say no
// of a text that would stay.
func staysText(s string) bool {
	if s == "" || !isLetter(s[0]) || s[len(s)-1] == ':' || yamlWords[strings.ToLower(s)] {
		return false
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; !isLetter(c) && (c < '0' || c > '9') && strings.IndexByte("._/@:-", c) < 0 {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// yamlWords are the words of YAML 1.1 that are no texts.
var yamlWords = map[string]bool{"y": true, "yes": true, "n": true, "no": true, "on": true, "off": true, "true": true, "false": true, "null": true}

// mayHaveOtherLabels tells, without reading the object, whether a label or annotation may be no text. It looks at the lines
// of metadata, as the encoders of a render write them: a value that begins with a letter and is no word of YAML, or with a
// quote or as a block, is a text.
func mayHaveOtherLabels(text string) bool {
	_, rest, ok := strings.Cut("\n"+text, "\nmetadata:")
	if !ok {
		return strings.Contains(text, "metadata") // written in another way
	}
	first, rest, _ := strings.Cut(rest, "\n")
	if strings.TrimSpace(first) != "" {
		return true
	}
	within := false
	for line := range strings.SplitSeq(rest, "\n") {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case line == "" || indent > 4:
			continue // of a block, or of a value that goes on
		case indent == 0:
			return false
		case indent == 2:
			key, value, _ := strings.Cut(line[2:], ":")
			within = key == "labels" || key == "annotations"
			if within && value != "" && value != " {}" {
				return true
			}
		case within:
			_, value, ok := strings.Cut(line, ": ")
			if !ok || value == "" {
				return true
			}
			if c := value[0]; c == '"' || c == '\'' || c == '|' || c == '>' || isLetter(c) && !yamlWords[strings.ToLower(value)] {
				continue
			}
			return true
		}
	}
	return false
}

func quoted(s string) bool {
	return len(s) > 1 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0]
}

// changed says what became of a text, and how much it weighs; empty when nothing did that anybody would mind.
func changed(ref model.Ref, path model.Path, res subst.Result, got any) (string, rule.Severity) {
	text, textual := res.Text, substitution.TextField(ref, path)
	switch v := got.(type) {
	case string:
		switch {
		case v == text || quoted(text) || strings.Contains(v, "**SOPS**"):
		case strings.TrimSpace(v) != strings.TrimSpace(text):
			return fmt.Sprintf("is read as %s", strconv.Quote(short(v))), rule.Error
		case !strings.Contains(text, "\n"): // what ends a block of lines is a matter of its style
			return "loses the blanks around it", rule.Error
		}
	case nil:
		return emptied(ref, res, textual)
	case bool:
		switch {
		case !strings.EqualFold(text, strconv.FormatBool(v)):
			return fmt.Sprintf("is read as the boolean %t", v), rule.Error
		case textual:
			return "is read as a boolean", rule.Error
		}
	case float64:
		return renumbered(path, text, v, textual)
	case map[string]any, []any:
		if textual {
			return "is read as " + describe(v), rule.Error
		}
	}
	return "", ""
}

// emptied says whether null is what was meant.
func emptied(ref model.Ref, res subst.Result, textual bool) (string, rule.Severity) {
	switch {
	case res.Text == "" && textual && substitution.Builtin(ref):
		// kustomize-controller puts these through their Go types, which make the empty text of null again
		// (fluxcd/pkg ssa/normalize).
	case res.Text == "" && textual:
		return "is read as null", rule.Error
	case res.Text == "" && res.Segments[0].Defaulted:
		// A default of nothing is how a value is left unset.
	case res.Text == "":
		return "is read as null, and not as an empty text", rule.Warning
	case strings.EqualFold(res.Text, "null") && !textual:
		// That is how a chart's default is taken away.
	case res.Text == "~" || strings.EqualFold(res.Text, "null"):
		return "is read as null", rule.Error
	default:
		return "is read as nothing", rule.Error
	}
	return "", ""
}

// renumbered says whether a number is still what was written.
func renumbered(path model.Path, text string, v float64, textual bool) (string, rule.Severity) {
	printed := facts.Text(v)
	same := printed == text || integer(text)
	switch {
	case same && textual:
		return "is read as a number", rule.Error
	case same:
		return "", ""
	case allDigits(text) && text[0] != '0':
		return fmt.Sprintf("is read as the number %s, which is another", printed), rule.Error
	case decimal(text) && !textual && !isVersion(path):
		// As a number it is the same; only as a text it is not.
		return fmt.Sprintf("is read as the number %s", printed), rule.Warning
	}
	return fmt.Sprintf("is read as the number %s", printed), rule.Error
}

// integer tells whether a text is a number of 64 bits as it is printed. It is carried whole, which a float64 may not show.
func integer(text string) bool {
	n, err := strconv.ParseInt(text, 10, 64)
	return err == nil && strconv.FormatInt(n, 10) == text
}

func allDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// decimal tells whether a text is a decimal fraction whose zeros at the end are all that a number loses of it.
func decimal(s string) bool {
	whole, fraction, ok := strings.Cut(strings.TrimPrefix(s, "-"), ".")
	return ok && allDigits(whole) && allDigits(fraction) && (whole == "0" || whole[0] != '0') && len(s) < 16
}

// describe says what kind of value it is.
func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprintf("the boolean %t", v)
	case float64:
		return "the number " + facts.Text(v)
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	case string:
		return "the text " + strconv.Quote(short(v))
	}
	return "something else"
}

// isVersion tells whether a field is a version by its name, so that 1.10 and 1.1 are not one.
func isVersion(p model.Path) bool {
	key, _ := p[len(p)-1].(string)
	lower := strings.ToLower(key)
	return strings.HasSuffix(lower, "tag") || lower == "image" || lower == "release" || strings.HasSuffix(lower, "version") || lower == "channel"
}
