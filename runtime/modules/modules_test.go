package modules

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"ovgen/runtime/driver"
)

// pair is what the kernels of these tests take.
type pair struct {
	At    driver.Ptr
	Count int
}

// loads is a driver that notes what it is told of kernels, and fails where its note begins with fail.
type loads struct {
	driver.Driver
	told []string
	fail string
}

func (l *loads) note(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	l.told = append(l.told, text)
	if l.fail != "" && strings.HasPrefix(text, l.fail) {
		return errors.New("no")
	}
	return nil
}

func (l *loads) ModuleLoadData(c *driver.Code) (driver.Module, error) {
	return 7, l.note("load %s", c.Name)
}
func (l *loads) ModuleUnload(m driver.Module) error    { return l.note("unload %d", m) }
func (l *loads) StreamSynchronize(driver.Stream) error { return l.note("synchronize") }

func (l *loads) ModuleGetFunction(_ driver.Module, name string) (driver.Function, error) {
	return driver.Function(len(name)), l.note("find %s", name)
}

func (l *loads) LaunchKernel(f driver.Function, grid, block driver.Dim3, _ driver.Stream, params unsafe.Pointer) error {
	return l.note("launch %d on %d of %d: %v", f, grid.X, block.X, *(*pair)(params))
}

// TestKernels loads two kernels, each launched with zeros, launches one, and refuses what it does not take.
func TestKernels(t *testing.T) {
	code := &driver.Code{Name: "own", Kernels: []driver.Kernel{{Name: "fill", Params: 16}, {Name: "clear", Params: 16}}}
	x := pair{64, 3}
	l := &loads{}
	k, err := Load(l, code)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(k.Launch(0, "clear", 5, 64, &x), k.Close(), k.Close()); err != nil {
		t.Error(err)
	}
	told := []string{"load own", "find fill", "launch 4 on 1 of 32: {0 0}", "find clear", "launch 5 on 1 of 32: {0 0}",
		"synchronize", "launch 5 on 5 of 64: {64 3}", "unload 7"}
	if !slices.Equal(l.told, told) {
		t.Errorf("%q, want %q", l.told, told)
	}
	for _, c := range []struct {
		name   string
		params any
		want   string
	}{
		{"other", &x, "launch kernel other: it is not in the code that was loaded"},
		{"fill", x, "launch kernel fill: params is a modules.pair (it must point to a struct of 16 bytes)"},
		{"fill", &x.Count, "params is a *int"},
		{"fill", (*pair)(nil), "params is a *modules.pair"},
	} {
		if err := k.Launch(0, c.name, 1, 32, c.params); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	for _, fail := range []string{"load", "find clear", "launch 5", "synchronize"} {
		l := &loads{fail: fail}
		_, err := Load(l, code)
		unloaded := slices.Contains(l.told, "unload 7")
		if err == nil || !strings.HasPrefix(err.Error(), "load kernel") || unloaded != (fail != "load") {
			t.Errorf("%s fails: %v, told %q", fail, err, l.told)
		}
	}
}
