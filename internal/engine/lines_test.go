package engine

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/model"
)

func TestLinesAround(t *testing.T) {
	long := strings.Repeat("ä", 2000) + "X" + strings.Repeat("b", 2000)
	files := map[string]string{"a": "one\r\ntwo\nthree", "long": long + "\nlast\n"}
	reads := 0
	l := &lines{read: func(p string) ([]byte, error) { reads++; return []byte(files[p]), nil }}
	got := l.around(model.Span{File: "a", Line: 2, Column: 1, EndLine: 3, EndColumn: 2})
	if len(got) != 3 || got[0].Text != "one" || got[1].Text != "two" || got[2].Text != "three" || got[2].Number != 3 {
		t.Errorf("%+v", got)
	}
	if got := l.around(model.Span{File: "a", Line: 9, Column: 1, EndLine: 9, EndColumn: 2}); len(got) != 0 {
		t.Errorf("line 9 has %+v", got)
	}
	if reads != 1 {
		t.Errorf("the file was read %d times", reads)
	}
	// The part around a column, wherever the one before was.
	for _, column := range []int{2001, 2001, 5, 2400, 2001} {
		got := l.around(model.Span{File: "long", Line: 1, Column: column, EndLine: 1, EndColumn: column + 1})
		if len(got) != 1 || len([]rune(got[0].Text)) > lineBefore+lineBehind {
			t.Fatalf("column %d: %d lines", column, len(got))
		}
		want := []rune(long)[column-1]
		if at := []rune(got[0].Text)[column-1-got[0].Skipped]; at != want {
			t.Errorf("column %d is %q, want %q", column, at, want)
		}
	}
}
