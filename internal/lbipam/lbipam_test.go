package lbipam_test

import (
	"net/netip"
	"testing"

	"github.com/tidegate/tidegate/internal/lbipam"
)

func TestParseBlock(t *testing.T) {
	for _, c := range []struct{ cidr, start, stop, want string }{
		{"192.168.1.7/29", "", "", "192.168.1.0 to 192.168.1.7"},
		{"10.0.0.0/8", "", "", "10.0.0.0 to 10.255.255.255"},
		{"192.168.1.9/32", "", "", "192.168.1.9"},
		{"fd00::/126", "", "", "fd00:: to fd00::3"},
		{"", "192.168.1.5", "192.168.1.9", "192.168.1.5 to 192.168.1.9"},
		{"", "192.168.1.5", "", "192.168.1.5"},
		{"", "192.168.1.9", "192.168.1.5", ""},
		{"", "192.168.1.9", "fd00::1", ""},
		{"", "TBD", "", ""},
		{"192.168.1.0", "", "", ""},
	} {
		b, ok := lbipam.ParseBlock(c.cidr, c.start, c.stop)
		if ok != (c.want != "") || ok && b.String() != c.want {
			t.Errorf("%+v: %v %v", c, b, ok)
		}
	}
}

func TestFirst(t *testing.T) {
	a, _ := lbipam.ParseBlock("", "10.0.0.5", "10.0.0.6")
	b, _ := lbipam.ParseBlock("10.1.0.0/31", "", "")
	taken := map[string]bool{}
	for _, want := range []string{"10.0.0.5", "10.0.0.6", "10.1.0.0", "10.1.0.1"} {
		got, ok := lbipam.First([]lbipam.Block{a, b}, func(x netip.Addr) bool { return taken[x.String()] })
		if !ok || got.String() != want {
			t.Errorf("got %v, want %s", got, want)
		}
		taken[want] = true
	}
	if got, ok := lbipam.First([]lbipam.Block{a, b}, func(x netip.Addr) bool { return taken[x.String()] }); ok {
		t.Errorf("%v is free", got)
	}
	all, _ := lbipam.ParseBlock("", "255.255.255.254", "255.255.255.255")
	if _, ok := lbipam.First([]lbipam.Block{all}, func(netip.Addr) bool { return true }); ok {
		t.Error("beyond the last address there is another")
	}
}

func TestMatches(t *testing.T) {
	labels := map[string]string{"a": "1"}
	for _, c := range []struct {
		r    lbipam.Requirement
		want bool
	}{
		{lbipam.Requirement{Key: "a", Operator: "In", Values: []string{"1", "2"}}, true},
		{lbipam.Requirement{Key: "b", Operator: "In", Values: []string{"1"}}, false},
		{lbipam.Requirement{Key: "a", Operator: "NotIn", Values: []string{"1"}}, false},
		{lbipam.Requirement{Key: "b", Operator: "NotIn", Values: []string{"1"}}, true},
		{lbipam.Requirement{Key: "a", Operator: "Exists"}, true},
		{lbipam.Requirement{Key: "a", Operator: "DoesNotExist"}, false},
		{lbipam.Requirement{Key: "a", Operator: "Like"}, false},
	} {
		if got := lbipam.Matches([]lbipam.Requirement{c.r}, labels); got != c.want {
			t.Errorf("%+v: %t", c.r, got)
		}
	}
}
