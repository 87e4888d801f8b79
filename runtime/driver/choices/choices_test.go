package choices

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"ovgen/runtime/driver"
)

var h200 = Machine{"NVIDIA H200", 12040, 120402}

func desc(m int) driver.MatmulDesc {
	return driver.MatmulDesc{M: m, K: 64, N: 32, Type: driver.BF16, Transposed: true}
}

func algorithm(n byte) (a Algorithm) {
	for i := range a {
		a[i] = n + byte(i)
	}
	return a
}

// wants says what a table has for desc(1) to desc(len(n)): 0 is nothing.
func wants(t *testing.T, x *Table, n ...byte) {
	t.Helper()
	for i, want := range n {
		got, ok := x.Find(desc(i + 1))
		if ok != (want != 0) || ok && got != algorithm(want) {
			t.Errorf("product %d: %v, %v, want algorithm %d", i+1, got, ok, want)
		}
	}
}

func keep(t *testing.T, x *Table, m int, n byte) {
	t.Helper()
	if a, err := x.Keep(desc(m), algorithm(n), Algorithm{}); err != nil || a != algorithm(n) {
		t.Fatal(a, err)
	}
}

// TestFirstWins has ranks tune the same product at the same time: all take what the first one kept, also another
// process's. One that is refused is replaced.
func TestFirstWins(t *testing.T) {
	for _, folder := range []string{"", t.TempDir()} {
		x := New(h200, folder)
		y := x
		if folder != "" {
			y = New(h200, folder) // another process
		}
		wants(t, y, 0)
		keep(t, x, 1, 7)
		for _, c := range []struct{ mine, refused, want byte }{{9, 0, 7}, {9, 5, 7}, {9, 7, 9}, {11, 7, 9}} {
			refused := Algorithm{}
			if c.refused != 0 {
				refused = algorithm(c.refused)
			}
			if a, err := y.Keep(desc(1), algorithm(c.mine), refused); err != nil || a != algorithm(c.want) {
				t.Errorf("folder %q: kept %v, %v, want algorithm %d", folder, a, err, c.want)
			}
		}
		wants(t, y, 9)
	}
}

func TestTable(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a", "b")
	x := New(h200, folder)
	wants(t, x, 0, 0)
	keep(t, x, 1, 7)
	wants(t, x, 7, 0)
	y := New(h200, folder) // another process
	wants(t, y, 7, 0)
	keep(t, y, 2, 9)
	keep(t, x, 3, 11)
	wants(t, x, 7, 9, 11) // and what the other has written since
	wants(t, New(h200, folder), 7, 9, 11)
	for _, other := range []Machine{{"NVIDIA H100", 12040, 120402}, {"NVIDIA H200", 12050, 120402},
		{"NVIDIA H200", 12040, 120500}} {
		wants(t, New(other, folder), 0, 0, 0)
	}
	for i, change := range []func(*driver.MatmulDesc){
		func(d *driver.MatmulDesc) { d.Type = driver.FP16 }, func(d *driver.MatmulDesc) { d.Bias = true },
		func(d *driver.MatmulDesc) { d.Transposed = false }, func(d *driver.MatmulDesc) { d.Accumulate = true },
	} {
		d := desc(1)
		change(&d)
		if _, ok := x.Find(d); ok {
			t.Errorf("change %d: another product's algorithm", i)
		}
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 1 || left[0].Name() != "products-nvidia-h200-12040-120402.json" {
		t.Errorf("the folder has %v, %v", left, err)
	}
}

func TestOneTableAProcess(t *testing.T) {
	folder := t.TempDir()
	keep(t, Of(h200, folder), 1, 3)
	wants(t, Of(h200, folder), 3)
	wants(t, Of(h200, t.TempDir()), 0)
	keep(t, Of(h200, ""), 2, 5) // of the process alone
	wants(t, Of(h200, ""), 0, 5)
}

// TestBroken breaks the file in every way: it is ignored, and written anew.
func TestBroken(t *testing.T) {
	for name, change := range map[string]func(string) string{
		"empty":             func(string) string { return "" },
		"no JSON":           func(string) string { return "products" },
		"cut short":         func(s string) string { return s[:len(s)/2] },
		"another format":    func(s string) string { return strings.Replace(s, `"format": 3`, `"format": 1`, 1) },
		"another machine":   func(s string) string { return strings.Replace(s, "H200", "H100", 1) },
		"another sum":       func(s string) string { return strings.Replace(s, `"sum": "`, `"sum": "0`, 1) },
		"another algorithm": func(s string) string { return strings.Replace(s, "BwgJ", "BwgK", 1) },
		"another product":   func(s string) string { return strings.Replace(s, `"K": 64`, `"K": 65`, 1) },
		"no products":       func(s string) string { return s[:strings.Index(s, `"products"`)] + `"products": 3}` },
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			x := New(h200, folder)
			keep(t, x, 1, 7)
			good, err := os.ReadFile(x.path())
			if err != nil {
				t.Fatal(err)
			}
			bad := change(string(good))
			if bad == string(good) {
				t.Fatalf("nothing was broken in\n%s", good)
			}
			if err := os.WriteFile(x.path(), []byte(bad), 0o600); err != nil {
				t.Fatal(err)
			}
			y := New(h200, folder)
			wants(t, y, 0, 0)
			keep(t, y, 2, 9)
			wants(t, New(h200, folder), 0, 9)
		})
	}
}

// TestOddFiles finds a pipe, a device and a huge file under the file's name: none is read, and New does not wait.
func TestOddFiles(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"a pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"a huge file": func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<40))
		},
	} {
		x := New(h200, t.TempDir())
		if err := put(x.path()); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := read(x.path(), h200)
			ended <- err
		}()
		select {
		case err := <-ended:
			if err == nil || !strings.Contains(err.Error(), "it is no regular file") {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: a read waits for 10 seconds, for somebody who writes", name)
		}
		wants(t, x, 0, 0)
		keep(t, x, 2, 9)
		wants(t, New(h200, filepath.Dir(x.path())), 0, 9)
	}
}

// TestShortAlgorithm has a right checksum over an algorithm that is cut short.
func TestShortAlgorithm(t *testing.T) {
	x := New(h200, t.TempDir())
	products := `[{"product":{"M":1},"algorithm":"AAAA"}]`
	s, err := sum([]byte(products))
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"format":3,"device":"NVIDIA H200","driver":12040,"library":120402,"sum":"%s","products":%s}`,
		s, products)
	if _, err := decode([]byte(text), x.machine); err == nil || !strings.Contains(err.Error(), "3 bytes") {
		t.Errorf("%v", err)
	}
}

func TestFolderThatCantBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	x := New(h200, file)
	_, err := x.Keep(desc(1), algorithm(7), Algorithm{})
	if err == nil || !strings.Contains(err.Error(), "write "+file) {
		t.Errorf("%v", err)
	}
	wants(t, x, 7)
}

func TestFolder(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "/cache")
	t.Setenv("HOME", "/home/u")
	for _, x := range []struct{ named, set, want string }{
		{"", "", "/cache/ovgen"}, {"", "/elsewhere", "/elsewhere"}, {"", Off, ""},
		{"/named", "", "/named"}, {"/named", Off, "/named"}, {Off, "", ""}, {Off, "/elsewhere", ""},
	} {
		t.Setenv(Variable, x.set)
		if got := Folder(x.named); got != x.want {
			t.Errorf("%q, %q: %q, want %q", x.named, x.set, got, x.want)
		}
	}
	t.Setenv(Variable, "")
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	if got := Folder(""); got != "" {
		t.Errorf("without a home: %q", got)
	}
}

// TestManyWriters has many processes' tables write at once: the file is whole at every moment, and each
// table keeps its own.
func TestManyWriters(t *testing.T) {
	folder := t.TempDir()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			x := New(h200, folder)
			for n := range 10 {
				if _, err := x.Keep(desc(1+n), algorithm(byte(1+n)), Algorithm{}); err != nil {
					t.Error(err)
				}
				if _, err := read(x.path(), h200); err != nil {
					t.Errorf("writer %d: %v", i, err)
				}
			}
		})
	}
	wg.Wait()
	wants(t, New(h200, folder), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
}
