package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A package that never gets to main is given up on Ctrl-C: its process ends, and
// nothing is left in the temporary folder.
func TestInterrupted(t *testing.T) {
	repo, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir, temp := t.TempDir(), t.TempDir()
	pidFile := filepath.Join(dir, "pid")
	for name, text := range map[string]string{
		"go.mod": fmt.Sprintf("module example.com/user\n\ngo 1.26.0\n\nrequire ovgen v0.0.0\n\nreplace ovgen => %s\n",
			repo),
		"decl.go": fmt.Sprintf(`package user

import (
	"fmt"
	"os"
	"time"

	"ovgen/schedule"
)

var Layer schedule.Schedule

func init() {
	os.WriteFile(%q, fmt.Append(nil, os.Getpid()), 0o600)
	time.Sleep(time.Hour)
}
`, pidFile),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TMPDIR", temp)
	ctx, cancel := context.WithCancelCause(t.Context())
	status := make(chan int, 1)
	var stdout, stderr bytes.Buffer
	go func() { status <- Run(ctx, Env{Dir: dir, Vars: os.Environ()}, &stdout, &stderr, "vet", ".") }()
	pid := waitForPid(t, pidFile, status, &stderr)
	cancel(errors.New("interrupted by the test"))
	select {
	case got := <-status:
		if got != statusTrouble {
			t.Errorf("status %d, want %d", got, statusTrouble)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it still runs 10 s after the interrupt")
	}
	if !strings.Contains(stderr.String(), "evaluate the schedules: interrupted by the test") {
		t.Errorf("it said %q", stderr.String())
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) && !ended(pid) {
		t.Errorf("process %d of the package is still there: %v", pid, err)
	}
	if ours, _ := filepath.Glob(filepath.Join(temp, "ovgen-*")); len(ours) > 0 {
		t.Errorf("left behind: %v", ours)
	}
}

// waitForPid waits until the package's process runs and has written its pid.
func waitForPid(t *testing.T, name string, status <-chan int, stderr *bytes.Buffer) int {
	t.Helper()
	for range 600 {
		select {
		case s := <-status:
			t.Fatalf("status %d before the package ran:\n%s", s, stderr)
		default:
		}
		text, err := os.ReadFile(name)
		if pid, bad := strconv.Atoi(string(text)); err == nil && bad == nil {
			return pid
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the package does not run")
	return 0
}

// ended reports whether a process is dead and only waits to be reaped by whoever took it
// over from the go command.
func ended(pid int) bool {
	for range 100 {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil || strings.Contains(string(text), ") Z ") {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

func TestFlagsAnywhere(t *testing.T) {
	for _, test := range []struct {
		args   []string
		output string
		pkg    string
	}{
		{[]string{"./s"}, "generated", "./s"},
		{[]string{"-o", "x", "./s"}, "x", "./s"},
		{[]string{"./s", "-o", "x"}, "x", "./s"},
		{[]string{"-nvrtc", "n", "./s", "-o=x"}, "x", "./s"},
	} {
		var c call
		if err := c.parse(genVerb, test.args); err != nil {
			t.Errorf("%v: %v", test.args, err)
		} else if c.output != test.output || len(c.args) != 1 || c.args[0] != test.pkg {
			t.Errorf("%v: -o %s, arguments %v", test.args, c.output, c.args)
		}
	}
}

func TestLookup(t *testing.T) {
	e := Env{Vars: []string{"A=1", "AB=3", "A=2"}}
	for key, want := range map[string]string{"A": "2", "AB": "3", "B": ""} {
		if got := e.lookup(key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}
