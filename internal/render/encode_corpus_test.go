package render

import "strings"

// This file holds what the encoder's tests feed it: scalars as they stand in YAML, where they may stand, and whole
// documents whose structure is the point.

const head = "apiVersion: v1\nkind: T\nmetadata:\n  name: n\n"

// place says where a scalar stands. Block scalars are indented for it.
type place struct {
	name   string
	before string
	indent string
	after  string
}

var places = []place{
	{"value", "spec:\n  v: ", "    ", "\n  z: end\n"},
	{"last", "spec:\n  v: ", "    ", "\n"},
	{"item", "spec:\n- a\n- ", "  ", "\n- end\n"},
	{"nested item", "spec:\n- - ", "    ", "\n  - end\n"},
	{"flow value", "spec: {v: ", "  ", ", z: end}\n"},
	{"flow item", "spec: [a, ", "  ", ", end]\n"},
	{"key", "spec:\n  ", "  ", ": v\n"},
	{"complex key", "spec:\n  ? ", "    ", "\n  : v\n"},
	{"flow key", "spec: {", "  ", ": v}\n"},
	{"label", "spec:\n  labels:\n    a: b\n    l: ", "      ", "\n"},
	{"top", "v: ", "  ", "\nz: end\n"},
	{"commented", "# head\nspec:\n  # before\n  v: ", "    ", " # line\n  # foot\n"},
}

func (p place) with(scalar string) string {
	return head + p.before + strings.ReplaceAll(scalar, "\n", "\n"+p.indent) + p.after
}

var long = strings.TrimSpace(strings.Repeat("word ", 40))

// nastyScalars are scalars whose type or text some hop might change.
var nastyScalars = []string{
	// Integers.
	"0", "-0", "+0", "1", "+1", "-1", "007", "0123", "089", "0o17", "0O17", "0x1F", "0X1f", "-0x1F", "0b101", "0B1", "1_000", "_1", "1_", "0_7",
	"9007199254740991", "9007199254740992", "9007199254740993", "-9007199254740992", "-9007199254740993", "9223372036854775807",
	"9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616",
	"12345678901234567890", "1000000", "10000000000000000000000", "190:20:30", "22:22", "1:1", "-1:30", "0x", "0o8", "0b2",
	// Floats.
	"1.0", "1.10", "0.5", ".5", "5.", "-.5", "+.5", "-0.0", "1e3", "1E3", "1e+3", "1e-3", "1e400", "-1e400", "1e-400", "1.5e300", "6.02e23", "685.230_15e+03",
	"190:20:30.15", ".inf", "-.inf", "+.Inf", ".INF", ".nan", ".NaN", ".NAN", "1e", "e3", ".", "..", "1.2.3", "1e21", "1e20", "123456789.123456789", "0.1", "1e22",
	"100000000000000000000.0", "9007199254740993.0", "4.9e-324", "0e0", "0.0",
	// Booleans and null, in every spelling of YAML 1.1.
	"true", "True", "TRUE", "tRUE", "false", "False", "FALSE", "yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF", "y", "Y", "n", "N",
	"null", "Null", "NULL", "~", "", "nULL", "t", "f",
	// Dates.
	"2026-01-02", "2026-1-2", "2026-01-02T03:04:05Z", "2026-01-02 03:04:05", "2001-12-14t21:59:43.10-05:00", "2026-13-45", "2026-01-02T", "2001-12-14 21:59:43.10 -5",
	// Quoted.
	`""`, "''", `"1"`, "'1'", `"true"`, "'yes'", `"null"`, "'~'", `"1.0"`, `"0123"`, `"2026-01-02"`, `" "`, "'  lead'", `"trail  "`, `"a\nb"`, `"a\n"`, `"\n"`, `"\na"`,
	`"\n\n"`, `" a\nb"`, `"\ta\nb"`, `"\ta"`, `"a\tb"`, `"a\tb\nc"`, `"a \nb"`, `"a\n b"`, `"a\n\nb"`, `"a\n \nb"`, `"a\n\n\n"`, `"a\r\nb"`, `"a\rb"`, `"\r"`, `"\0"`, `"\a\b\e\f\v"`, `"\x7f"`,
	`"\x80"`, `"\x85"`, `"a\x85b"`, `"\xa0"`, `"\u2028"`, `"a\u2029b"`, `"\ufeff"`, `"\ufeffa"`, `"\ufffe"`, `"\uffff"`, `"\ufffd"`, `"\ufffc"`, `"\ufff9"`, `"\U0001F600"`, `"a\U0001F468\u200D\U0001F469"`, `"\U0010FFFF"`, `"\ud800"`,
	`"\xad"`, `"\u200b"`, `"\u202e"`, `"\ue000"`, `"\U000E0001"`, `"\U00010000"`, `"\U0001FFFE"`,
	`"quote \" and \\ back"`, `'it''s'`, `"it's"`, `'say "x"'`, `"${A}"`, `"$"`, "'%'", `"a: b"`, `"a #b"`, `"#a"`, `"- a"`, `"? a"`, `": a"`, `"a:"`, `"[a"`, `"{a"`, `"a]"`, `"a, b"`, `"&a"`, `"*a"`, `"!a"`, `"|"`, `">"`, `"@a"`, "\"`a\"", `"%a"`, `"---"`, `"--- a"`, `"..."`, `"-"`, `"--"`, `"="`, `"<<"`,
	`"a\` + "\n" + `b"`, "\"folded\nplain\"", "'folded\n\nplain'",
	// Plain, of odd text.
	"=", "<<", "-", "?", "a:b", "a#b", "a?b", "a,b", "-a", ":a", "a b", "a-b", "@", "%a", "a&b", "a*b", "a!b", "http://x/y?z=1#f", "é", "ß", "日本語", "😀", "👨‍👩‍👧", "a\u00a0b", "a\u2028b", "a\u0085b", "\ufeffa", "a\ufeffb", "a\u200bb",
	"plain\nof two lines", "plain\n\nwith a blank", long, `"` + long + `"`, strings.Repeat("x", 81), strings.Repeat("x", 2000), strings.Repeat("k", 127), strings.Repeat("k", 128), strings.Repeat("k", 129), strings.Repeat("k", 1023), strings.Repeat("k", 1024), strings.Repeat("k", 1025),
	strings.Repeat("é", 64), strings.Repeat("日", 50), long + "\n" + long, `"` + long + `\n` + long + `"`, `" ` + long + `"`, `"` + long + ` "`, `"` + long + `  x"`, strings.Repeat("a  ", 60) + "b",
	// Block scalars: each style, chomping and indentation.
	"|\nx", "|\nx\ny", "|-\nx\ny", "|+\nx\ny", "|+\nx\n\n", "|\nx\n\ny", "|\n\nx", "|2\n  x", "|1\n x", "|-\n\n\nx", "|\nx \ny\t", "|\n\tx", "|\nx\n  y\nz", "|\n  x\ny", "|-\n", "|\n", "|+\n", "|+\n\n", "|\n# no comment", "|\n---", "|\nx: y", "|\n- a\n- b",
	">\nx", ">\nx\ny", ">-\nx\ny", ">+\nx\ny", ">+\nx\n\n", ">\nx\n\ny", ">\nx\n  y\nz", ">\n  x\ny", ">-\n" + long, ">\n" + long + "\n\n" + long, ">\nx\n\n\ny", ">2\n  x", "|\n" + long, "|\n\"q\"\n'r'", "|\n日本\n😀", "|\na\u2028b\nc", "|\na\u0085b\nc", "|\n${A}\n$${B}", "|\nx\n \ny", "|\nx\n   \n", "|1\n\n x", "|2-\n  \tx\n  y",
	// Tags.
	"!!str 1", "!!str true", "!!str", `!!str ""`, "!!int 1", "!!int '1'", "!!int 0x10", "!!float 1", "!!float 1.5", "!!float x", "!!bool true", "!!bool 'yes'", "!!bool yes", "!!null ''", "!!null null", "!!null x", "!!binary aGVsbG8=", "!!binary /w==", "!!binary x", "!!timestamp 2026-01-02", "!custom x", "!custom 1", "!", "! 1", "!<tag:yaml.org,2002:str> 5", "!!str |\nx", "!!int |\n1", "!!merge x", "!!map {}", "!!seq []", "!!str {a: b}", "!!set {a}", "!!omap [a: 1]", "!!unknown x", "!local {a: 1}",
	// Collections.
	"{}", "[]", "{ }", "[ ]", "{a: 1}", "[1, 2]", "[[1], []]", "{a: {}, b: []}", "[{a: b}]", "{a: , b: }", "[a, ]", "{a}", "[a: 1]", "{? a : b}", "{'a': 'b'}", `{"a":"b"}`, "{1: 2}", "{true: false}", "{null: x}", "{~: x}", "{1.5: x}", "{[a]: b}", "{{a: b}: c}", "[&x a, *x]", "{a: &x b, c: *x}", "{a: 1, a: 2}", "{<<: {a: 1}}",
	"[a, # one\nb]", "{a: 1, # one\nb: 2}", "[ # first\na]", "[\n# head\na,\nb\n# foot\n]",
	// Anchors and aliases.
	"&x a", "&x 1", "&x {a: 1}", "&x", "*missing", "&x [*x]",
}

// nastyDocuments are what follows the head of an object.
var nastyDocuments = []string{
	"a: &x {b: 1}\nc: *x\n", "a: &x\n  b: 1\nc:\n  <<: *x\n  d: 2\n", "a: &x {b: 1}\ny: &y {e: 1}\nc:\n  <<: [*x, *y]\n  b: 3\n", "a: &x 1\nb: *x\nc: [*x, *x]\n", "a: &x k\n*x : v\n",
	"a: &x\n- 1\nb: *x\n", "<<: {a: 1}\n", "<<: a\n", "a:\n  <<: b\n", "\"<<\": {a: 1}\n", "a: &x {b: &y 1}\nc: [*x, *y]\n",
	"a: 1\na: 2\n", "spec: {a: 1}\nspec: {b: 2}\n", "true: 1\n", "yes: 1\nno: 2\n", "1: a\n'1': b\n", "1.5: a\n", "null: a\n", "~: a\n", "0x10: a\n16: b\n", "on: {push: 1}\n", "y: 1\n", "2026-01-02: a\n", "'': a\n",
	"a:\n", "a: ~\n", "a: null\n", "a: ''\n", "a: {b: {c: {d: {e: []}}}}\n", "a: [[[[[]]]]]\n", "a:\n-\n- \n- null\n", "a:\n- - - x\n", "a: {}\nb: []\n", "b: 1\na: 2\nA: 3\nB: 4\naa: 5\na1: 6\na10: 7\na2: 8\n",
	"a10: 1\na9: 2\na09: 3\nA9: 4\n\"9\": 5\n\"10\": 6\n_a: 7\n-a: 8\n$a: 9\né: 10\n", "a-b: 1\na.b: 2\na/b: 3\na_b: 4\nab: 5\naB: 6\n",
	"# comment\na: 1 # line\n# foot\n", "a: # after key\n  b: 1\n", "a:\n# before item\n- 1 # one\n# between\n- 2\n# end\n", "a: |\n  x\n# after block\nb: 1\n", "a: {b: 1} # c\n", "a: [1, 2] # c\nb: # d\n- {c: 1} # e\n", "# a\n\n# b\n\na: 1\n\n# c\n",
	"a: {b: 1, c: {d: 2 # deep\n}}\n", "a: [b, {c: d}, # x\n e]\n", "a: |+\n  x\n\n\nb: 1\n", "a: >+\n  x\n\n\nb: 1\n", "a: |\n    deep\n   less\n", "a: |\n  x\n...\n", "a: \"multi\n  line\n\n  text\"\n", "a: 'multi\n  line'\n", "a: multi\n  line\n  plain\n",
	"? a\n: b\n", "? [a, b]\n: c\n", "? {a: b}\n: c\n", "? |\n  block\n: v\n", "? a\n", "a: b: c\n", "a:\n  - b\n  c\n", "a: - b\n", "\ta: b\n", "a:\tb\n", "a: b\t\n", "a: 'x\n", "a: \"\\q\"\n", "a: @x\n", "a: `x`\n", "a: %x\n", "a: [b\n", "a: {b: c\n",
	"a: b\r\nc: d\r\n", "a: |\r\n  x\r\n  y\r\nb: c\r\n", "a: \"x\\r\\ny\"\n", "a: x\u0085b: y\n", "a: x\u2028b: y\n", "a: \ufeffx\n",
	"items: []\n", "items:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: i}}\n", "metadata:\n  name: twice\n", "data:\n  k: |-\n    {\n      \"a\": 1\n    }\n", "spec:\n  a:\n    - b:\n        - c:\n            - d\n",
	"x: " + strings.Repeat("[", 99) + strings.Repeat("]", 99) + "\n", "x: " + strings.Repeat("[", 120) + strings.Repeat("]", 120) + "\n", "x: " + strings.Repeat("{a: ", 98) + "1" + strings.Repeat("}", 98) + "\n", "x: " + strings.Repeat("{a: ", 110) + "1" + strings.Repeat("}", 110) + "\n",
	strings.Repeat("k", 200) + ": v\n", strings.Repeat("k", 1100) + ": v\n", "? " + strings.Repeat("k", 1100) + "\n: v\n", "a: {\"" + strings.Repeat("k", 1100) + "\": v}\n", "a: {\"" + strings.Repeat("k", 1020) + "\": v}\n",
}

const plainDeployment = `apiVersion: apps/v1
kind: Deployment
metadata:
  annotations:
    note: a text of some length that goes on beyond the eightieth column, as descriptions do
  labels:
    app.kubernetes.io/name: web
  name: web
  namespace: default
spec:
  replicas: 2
  selector:
    matchLabels:
      app.kubernetes.io/name: web
  template:
    metadata:
      labels:
        app.kubernetes.io/name: web
    spec:
      containers:
      - args:
        - --flag=true
        - "8080"
        command:
        - /bin/sh
        - -c
        - |
          set -e
          exec web
        image: example.org/web:1.2.3
        livenessProbe:
          httpGet:
            path: /healthz
            port: 8080
        name: web
        resources:
          limits:
            cpu: 500m
            memory: 128Mi
      securityContext:
        runAsNonRoot: true
`
