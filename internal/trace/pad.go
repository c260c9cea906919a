package trace

import (
	"bytes"
	"strings"

	"github.com/tidegate/tidegate/internal/yamlpos"
)

// This file moves documents to lines of their own.

// Pad gives a text with each document moved to lines of its own. It gives the text itself when it cannot be padded
// without a risk to what it means.
func (r *Recorder) Pad(data []byte, t Text) []byte {
	if len(data) == 0 || data[0] == '%' || bytes.IndexByte(data, 0) >= 0 || r.spent > maxPadding {
		return r.leave(data)
	}
	if rest, marked := bytes.CutPrefix(data, byteOrderMark); marked {
		// The mark means something at the very beginning only, so the blank lines come behind it.
		if bytes.HasPrefix(rest, []byte("---")) || bytes.HasPrefix(rest, []byte("%")) || bytes.HasPrefix(rest, byteOrderMark) {
			return r.leave(data)
		}
		before := len(r.ranges)
		out := r.Pad(rest, t)
		if len(r.ranges) == before {
			return data
		}
		return append(bytes.Clone(byteOrderMark), out...)
	}
	r.texts = append(r.texts, t)
	index, before := len(r.texts)-1, len(r.ranges)
	leave := func() []byte {
		r.ranges = r.ranges[:before]
		return r.leave(data)
	}
	out := make([]byte, 0, len(data)+r.next*2+64)
	line := 1
	for start, first := 0, true; start <= len(data); first = false {
		if r.spent += r.next; r.spent > maxPadding {
			return leave()
		}
		end, next := yamlpos.DocumentEnd(data, start)
		doc := data[start:end]
		n := bytes.Count(doc, newline) + 1
		blank := doc
		// A document that begins with its own marker keeps it on the first line: after blank lines it would be a separator.
		if first && bytes.HasPrefix(doc, []byte("---")) {
			i := bytes.IndexByte(doc, '\n')
			if i < 0 || !markerAlone(doc[3:i]) {
				return leave()
			}
			out = append(out, doc[:i+1]...)
			blank = doc[i+1:]
		}
		out = appendNewlines(out, r.next)
		out = append(out, blank...)
		out = append(out, data[end:next]...)
		r.ranges = append(r.ranges, lines{from: r.next + 1, to: r.next + n, first: line, text: index})
		r.next += n + 1
		line += bytes.Count(data[start:next], newline)
		if next == end {
			break
		}
		start = next
	}
	return out
}

var newline = []byte("\n")

var byteOrderMark = []byte("\xef\xbb\xbf")

// maxPadding bounds the blank lines of one build, in bytes: they grow with the square of its documents. What is read
// beyond it is attributed.
const maxPadding = 32 << 20

// leave gives a text as it is, and notes that its line numbers are not its own.
func (r *Recorder) leave(data []byte) []byte {
	r.blind = max(r.blind, bytes.Count(data, newline)+1)
	return data
}

func markerAlone(rest []byte) bool {
	rest = bytes.TrimSpace(rest)
	return len(rest) == 0 || rest[0] == '#'
}

func appendNewlines(b []byte, n int) []byte {
	for ; n > 0; n-- {
		b = append(b, '\n')
	}
	return b
}

// Inline gives a patch that stands in a kustomization as text, padded. kustomize trims such a text, so a comment
// keeps the blank lines.
func (r *Recorder) Inline(text string, t Text) string {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || listOfOperations([]byte(trimmed)) || !strings.Contains(trimmed, "\n") && !strings.Contains(trimmed, "{") {
		return text
	}
	skipped := strings.Count(text[:strings.Index(text, trimmed)], "\n")
	if strings.HasPrefix(trimmed, "---") || strings.HasPrefix(trimmed, "%") {
		r.leave([]byte(trimmed))
		return text
	}
	before := len(r.ranges)
	out := r.Pad([]byte(trimmed), t)
	if len(r.ranges) == before {
		return text
	}
	for i := before; i < len(r.ranges); i++ {
		r.ranges[i].first += skipped
	}
	// The comment is a line of the first document alone; Pad left room for it.
	r.ranges[before].from++
	r.ranges[before].to++
	return "#\n" + string(out)
}

// listOfOperations tells whether a patch is one of JSON 6902: a list, where a strategic merge is a mapping.
func listOfOperations(data []byte) bool {
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, newline)
		data = rest
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0, line[0] == '#', bytes.HasPrefix(line, []byte("---")):
			continue
		}
		return line[0] == '-' || line[0] == '['
	}
	return true
}
