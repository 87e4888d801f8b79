//go:build linux && cgo

package nccl

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ovgen/runtime/driver"
	"ovgen/verify/drivertest"
)

// buildFake compiles a libnccl.so.2 and a libcuda.so.1 that answer without a GPU.
func buildFake(t *testing.T, flags ...string) (dir string) {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler here, and the fake libnccl is built when the test runs")
	}
	dir = t.TempDir()
	for _, x := range [][]string{
		{"-o", filepath.Join(dir, libnccl), "fake.c"},
		{"-o", filepath.Join(dir, "libcuda.so.1"), "cuda.c"},
	} {
		build := exec.Command(cc, slices.Concat([]string{"-shared", "-fPIC"}, flags, x)...)
		build.Dir = "testdata"
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	return dir
}

// inChild runs one of the tests below in a process that finds the fakes, and returns its output and theirs.
func inChild(t *testing.T, dir, test string, env ...string) string {
	t.Helper()
	return drivertest.Child(t, dir, test, append([]string{"FAKE_VERSION=22809", Variable + "="}, env...)...)
}

// inOrder fails where a text lacks one of the lines, or has them in another order.
func inOrder(t *testing.T, out string, lines ...string) {
	t.Helper()
	at := 0
	for _, want := range lines {
		i := strings.Index(out[at:], want)
		if i < 0 {
			t.Fatalf("%q is missing, or comes too early, in\n%s", want, out)
		}
		at += i + len(want)
	}
}

// TestFake sees what reaches libnccl from each call.
func TestFake(t *testing.T) {
	out := inChild(t, buildFake(t), "TestFakeCalls", "FAKE_BUSY=2")
	inOrder(t, out, "start multicast 0 ras 0 order 0", "current 0x1001", "current 0x1001\ninit rank 1 of 2 id 7..7 ",
		"current 0x1001\nall-gather 0x10 to 0x20, 24 of type 1 on 0x50 of 0x99\n",
		"reduce-scatter 0x10 to 0x20, 12 of type 9 by 0 on 0x50 of 0x99\n",
		"all-reduce 0x10 to 0x20, 12 of type 6 by 0 on 0x50 of 0x99\n",
		"all-reduce 0x10 to 0x20, 6 of type 7 by 0 on 0x50 of 0x99\n",
		"group\nsend 0x10, 24 of type 1 to 0 on 0x50 of 0x99 grouped 1\n",
		"recv 0x20, 24 of type 1 from 0 on 0x50 of 0x99 grouped 1\n",
		"send 0x28, 24 of type 1 to 1 on 0x50 of 0x99 grouped 1\n",
		"recv 0x38, 24 of type 1 from 1 on 0x50 of 0x99 grouped 1\nend\n",
		"group\nsend 0x10, 24 of type 1 to 1 on 0x50 of 0x99 grouped 1\n",
		"recv 0x20, 16 of type 1 from 0 on 0x50 of 0x99 grouped 1\nend\n",
		"current 0x1001\nfinalize 0x99\ndestroy 0x99 busy 0\n", "current 0x1001\nabort 0x99\n")
}

func TestFakeCalls(t *testing.T) {
	drivertest.OnlyChild(t)
	c, err := driver.OpenNCCL(0x1001)
	if err != nil {
		t.Fatal(err)
	}
	id, err := c.CommGetUniqueID()
	if err != nil {
		t.Fatal(err)
	}
	comm, err := c.CommInitRank(id, 2, 1)
	settle(t, c, comm, err)
	for _, d := range []driver.CollectiveDesc{{Kind: driver.AllGather, Type: driver.BF16},
		{Kind: driver.ReduceScatter, Type: driver.BF16}, {Kind: driver.AllReduce, Type: driver.FP16},
		{Kind: driver.AllReduce, Type: driver.FP32}, {Kind: driver.AllToAll, Type: driver.BF16},
		{Kind: driver.Exchange, More: -8, To: 1}} {
		d.Bytes = 24
		settle(t, c, comm, c.Collective(d, 0x20, 0x10, comm, 0x50))
	}
	if err := c.CommDestroy(comm); err != nil {
		t.Error(err)
	}
	if err := c.CommAbort(comm); err != nil {
		t.Error(err)
	}
}

// settle asks until the call before has ended: twice in vain.
func settle(t *testing.T, c driver.Collectives, comm driver.Comm, err error) {
	t.Helper()
	asked := 0
	for ; errors.Is(err, driver.ErrInProgress); asked++ {
		err = c.CommGetAsyncError(comm)
	}
	if err != nil || asked != 3 {
		t.Errorf("%d questions: %v", asked, err)
	}
}

// TestConfig compares the configuration's bytes with what each version's header has at which
// offset: the version, that calls do not block, and from 2.32 that multicast is off.
func TestConfig(t *testing.T) {
	dir := buildFake(t)
	for _, x := range []struct {
		version int
		want    string
	}{
		{21903, "size 48 magic cafebeef 12:21903 16:0 44:0\n"}, // 44 is padding
		{22605, "size 48 magic cafebeef 12:22605 16:0\n"},
		{22707, "size 72 magic cafebeef 12:22707 16:0\n"},
		{22809, "size 80 magic cafebeef 12:22809 16:0\n"},
		{22907, "size 88 magic cafebeef 12:22907 16:0\n"},
		{23003, "size 96 magic cafebeef 12:23003 16:0 92:0\n"}, // 92 is padding
		{23007, "size 96 magic cafebeef 12:23007 16:0\n"},
		{23102, "size 112 magic cafebeef 12:23102 16:0\n"},
		{23203, "size 120 magic cafebeef 12:23203 16:0 112:2147483647 116:0\n"}, // and 116
		{23400, "size 120 magic cafebeef 12:23203 16:0 112:2147483647 116:0\n"}, // newer than every known version
	} {
		t.Run(versionText(x.version), func(t *testing.T) {
			out := inChild(t, dir, "TestFakeInit", fmt.Sprintf("FAKE_VERSION=%d", x.version))
			inOrder(t, out, "id 7..7 "+x.want)
		})
	}
}

func TestFakeInit(t *testing.T) {
	drivertest.OnlyChild(t)
	c, err := driver.OpenNCCL(0)
	if err != nil {
		t.Fatal(err)
	}
	id, err := c.CommGetUniqueID()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CommInitRank(id, 1, 0); err != nil {
		t.Error(err)
	}
}

// TestRefusals: a library that can't be used, and calls that fail.
func TestRefusals(t *testing.T) {
	dir := buildFake(t)
	for _, x := range []struct{ dir, env, want string }{
		{t.TempDir(), Variable + "=/nowhere/libnccl.so.2", "open NCCL: open /nowhere/libnccl.so.2: "},
		{dir, "FAKE_VERSION=21805", "version 2.18.5 (install 2.19 or newer"},
		{buildFake(t, "-DWITHOUT_RECV"), "NOTHING=", "it has no ncclRecv"},
		{buildFake(t, "-DWITHOUT_CURRENT"), "NOTHING=", "libcuda.so.1 has no cuCtxSetCurrent"},
		{dir, "NCCL_NVLS_ENABLE=1", `NCCL_NVLS_ENABLE is "1", and ovgen uses no multicast`},
		{dir, "NCCL_LAUNCH_ORDER_IMPLICIT=1", "with it a captured graph can't be uploaded (unset it"},
	} {
		out := inChild(t, x.dir, "TestFakeOpen", x.env)
		if !strings.Contains(out, x.want) || !strings.Contains(out, "unavailable true") {
			t.Errorf("no %q in\n%s", x.want, out)
		}
	}
	out := inChild(t, dir, "TestFakeFailing", "FAKE_FAIL=Send")
	inOrder(t, out, "group\nsend", "end\n", "nccl all-to-all: made up argument: the last one (4) fault false")
	out = inChild(t, dir, "TestFakeFailing", "FAKE_FAIL=CommInitRankConfig")
	inOrder(t, out, "ncclCommInitRankConfig: made up argument: the last one (4) fault false")
	out = inChild(t, dir, "TestFakeFailing", "FAKE_FAIL=CommGetAsyncError")
	inOrder(t, out, "ncclCommGetAsyncError: made up: the last one (6) fault false")
	out = inChild(t, dir, "TestFakeFailing", "FAKE_CONTEXT=1")
	inOrder(t, out, "current 0xbad", "ncclGetUniqueId: made up: the last one (2) fault false")
}

func TestFakeOpen(t *testing.T) {
	drivertest.OnlyChild(t)
	_, err := driver.OpenNCCL(0x1001)
	fmt.Printf("%v unavailable %t\n", err, errors.Is(err, driver.ErrUnavailable))
}

func TestFakeFailing(t *testing.T) {
	drivertest.OnlyChild(t)
	context := uintptr(0)
	if os.Getenv("FAKE_CONTEXT") != "" {
		context = 0xbad
	}
	c, err := driver.OpenNCCL(context)
	if err != nil {
		t.Fatal(err)
	}
	id, err := c.CommGetUniqueID()
	var comm driver.Comm
	if err == nil {
		comm, err = c.CommInitRank(id, 2, 0)
	}
	if err == nil {
		err = c.Collective(driver.CollectiveDesc{Kind: driver.AllToAll, Bytes: 8}, 0x20, 0x10, comm, 0x50)
	}
	if err == nil {
		err = c.CommGetAsyncError(comm)
	}
	fmt.Printf("%v fault %t\n", err, driver.Faulted(err))
}

// TestLibrary looks at a library that is really there, without a GPU: its version, its functions and
// an id, which names where ranks meet.
func TestLibrary(t *testing.T) {
	path := os.Getenv(Variable)
	if path == "" {
		t.Skip(Variable + " names no library of NCCL")
	}
	t.Setenv("NCCL_SOCKET_IFNAME", "lo")
	c, err := driver.OpenNCCL(0)
	if err != nil {
		t.Fatal(err)
	}
	id, err := c.CommGetUniqueID()
	if err != nil {
		t.Fatal(err)
	}
	const inet = 2
	if t.Logf("%s, id %x", versionText(Version()), id[:16]); id[8] != inet || id[12] != 127 {
		t.Errorf("the id names no address of this machine: %x", id[:20])
	}
}
