package driver_test

import (
	"errors"
	"strings"
	"testing"

	"ovgen/runtime/driver"
)

func TestCheck(t *testing.T) {
	const body = ".version 8.4\n"
	ours := driver.Digest([]byte("header"), []byte("source"))
	file := func(source, ptx, rest string) string {
		return "// Code generated.\n" + driver.SourceLine + source + "\n" + driver.PTXLine + ptx + "\n" + rest
	}
	good := file(ours, driver.Digest([]byte(body)), "//\n"+body)
	for _, c := range []struct{ name, source, ptx, want string }{
		{"current", ours, good, ""},
		{"not generated", "", body, ""},
		{"other source", ours, strings.Replace(good, ours, driver.Digest([]byte("headersource")), 1), "another .cu"},
		{"no source", ours, strings.Replace(good, driver.SourceLine, "// source ", 1), "another .cu"},
		{"a changed body", ours, good + "// more\n", "changed after"},
		{"a changed line", ours, strings.Replace(good, "8.4", "8.5", 1), "changed after"},
		{"no digest of the body", ours, strings.Replace(good, driver.PTXLine, "// PTX ", 1), "changed after"},
		{"no head", ours, body, "without NVRTC"},
		{"no body", ours, file(ours, "", ""), "without NVRTC"},
		{"an empty body", ours, file(ours, "", "//\n"), "without NVRTC"},
		{"no PTX", ours, "", "without NVRTC"},
		{"nothing", "", "", "without NVRTC"},
	} {
		err := (&driver.Code{Name: "ring", Source: c.source, PTX: []byte(c.ptx)}).Check()
		if c.want == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if stale := errors.As(err, new(*driver.StaleError)); err != nil && stale == errors.Is(err, driver.ErrNoPTX) {
			t.Errorf("%s: %v is not of one type", c.name, err)
		}
	}
}

// Texts that differ in where one ends and the next begins differ in their digest.
func TestDigest(t *testing.T) {
	if driver.Digest([]byte("a"), []byte("bc")) == driver.Digest([]byte("ab"), []byte("c")) {
		t.Error("the digest does not see where a text ends")
	}
}
