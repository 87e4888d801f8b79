package sim_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"ovgen/runtime/driver"
)

func TestMain(m *testing.M) {
	if os.Getenv("OVGEN_SIM_TEST_CHILD") != "" {
		child()
		return
	}
	os.Exit(m.Run())
}

// child is rank 1 of TestProcesses: it tells its handle, waits on a stream for
// its parent's post, doubles what it was sent and posts back, for ever.
func child() {
	fail := func(err error) {
		if err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
	}
	b, err := driver.Lookup("sim")
	fail(err)
	d, err := b.Open(1, 0)
	fail(err)
	mem, err := d.MemAlloc(4096)
	fail(err)
	s, err := d.StreamCreateWithPriority(driver.High)
	fail(err)
	h, err := d.IpcGetMemHandle(mem)
	fail(err)
	fmt.Println(hex.EncodeToString(h[:]))
	for {
		fail(d.StreamBatchMemOp(s, []driver.MemOp{
			{Kind: driver.WaitEqual, Value: 1, Address: mem}, {Kind: driver.Write, Value: 0, Address: mem}}))
		fail(d.MemcpyDtoDAsync(mem+2048, mem+1024, 1024, s))
		fail(d.StreamBatchMemOp(s, []driver.MemOp{{Kind: driver.Write, Value: 1, Address: mem + 4}}))
		fail(d.StreamSynchronize(s))
	}
}

// TestProcesses posts to another process over its memory, kills it, and goes on
// using what it imported.
func TestProcesses(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "OVGEN_SIM_TEST_CHILD=1")
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	line, err := bufio.NewReader(io.LimitReader(out, 200)).ReadString('\n')
	must(t, err)
	raw, err := hex.DecodeString(strings.TrimSpace(line))
	if err != nil {
		t.Fatalf("the child says %q", line)
	}
	d := process(t)
	defer d.Close()
	peer, err := d.IpcOpenMemHandle(driver.IpcMemHandle(raw))
	must(t, err)
	s, err := d.StreamCreateWithPriority(driver.High)
	must(t, err)
	wait := []driver.MemOp{{Kind: driver.WaitEqual, Value: 1, Address: peer + 4},
		{Kind: driver.Write, Value: 0, Address: peer + 4}}
	began := time.Now()
	const rounds = 50
	for i := range byte(rounds) {
		data := bytes.Repeat([]byte{i}, 1024)
		must(t, d.MemcpyHtoD(peer+1024, data))
		must(t, d.StreamBatchMemOp(s, []driver.MemOp{{Kind: driver.Write, Value: 1, Address: peer}}))
		must(t, d.StreamBatchMemOp(s, wait))
		must(t, d.StreamSynchronize(s))
		got := make([]byte, 1024)
		must(t, d.MemcpyDtoH(got, peer+2048))
		if !bytes.Equal(got, data) {
			t.Fatalf("round %d: the peer sent back %d", i, got[0])
		}
	}
	t.Logf("%v a round", time.Since(began)/rounds)
	must(t, cmd.Process.Kill())
	cmd.Wait()
	must(t, d.StreamBatchMemOp(s, wait)) // blocked for ever
	other, err := d.StreamCreateWithPriority(driver.Low)
	must(t, err)
	must(t, d.MemsetD32Async(peer+4, 1, 1, other))
	must(t, d.StreamSynchronize(s))
	got := make([]byte, 1)
	must(t, d.MemcpyDtoH(got, peer+2048))
	if got[0] != rounds-1 {
		t.Errorf("the dead peer's memory holds %d, want %d", got[0], rounds-1)
	}
	must(t, d.IpcCloseMemHandle(peer))
	_, err = d.IpcOpenMemHandle(driver.IpcMemHandle(raw))
	wants(t, "open memory of a dead process", err, 1)
}

func TestDeviceCount(t *testing.T) {
	b, err := driver.Lookup("sim")
	must(t, err)
	for text, want := range map[string]int{"3": 3, "0": 0, "": -1, "x": -1, "-1": -1} {
		t.Setenv("OVGEN_SIM_DEVICES", text)
		n, err := b.Count()
		if want >= 0 && (n != want || err != nil) || want < 0 && !errors.Is(err, driver.ErrUnavailable) {
			t.Errorf("OVGEN_SIM_DEVICES=%q: %d, %v", text, n, err)
		}
	}
	t.Setenv("OVGEN_SIM_DEVICES", "2")
	_, err = b.Open(2, 0)
	wants(t, "open device 2 of 2", err, 101)
	one, err := b.Open(0, 0)
	must(t, err)
	defer one.Close()
	two, err := b.Open(1, 0)
	must(t, err)
	defer two.Close()
	if one.Properties().UUID == two.Properties().UUID {
		t.Error("two devices have one UUID")
	}
	if ok, err := one.DeviceCanAccessPeer(two.Properties().UUID); !ok || err != nil {
		t.Errorf("peer access %v, %v", ok, err)
	}
}
