package drivertest

import (
	"os"
	"os/exec"
	"testing"
)

const childVariable = "OVGEN_FAKE_CHILD"

// Child runs one test of the test binary in a separate process, which finds the libraries of folder dir first and has
// these settings in its environment. It returns the output of the process. The test calls OnlyChild.
func Child(t *testing.T, dir, test string, env ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self, "-test.run=^"+test+"$")
	child.Env = append(append(os.Environ(), env...), "LD_LIBRARY_PATH="+dir, childVariable+"=1")
	out, err := child.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", test, err, out)
	}
	return string(out)
}

// OnlyChild skips a test outside of such a process.
func OnlyChild(t *testing.T) {
	t.Helper()
	if os.Getenv(childVariable) == "" {
		t.Skip("runs as a child of another test")
	}
}
