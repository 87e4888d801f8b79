package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"ovgen/runtime/launch"
)

// killRank kills the process of a rank among the children of this one.
func killRank(t *testing.T, rank int) {
	t.Helper()
	list, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range list {
		environ, err := os.ReadFile(name)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if err != nil || parent(pid) != os.Getpid() ||
			!bytes.Contains(environ, fmt.Appendf(nil, "\x00%s=%d\x00", launch.EnvRank, rank)) {
			continue
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("there is no process of rank %d", rank)
}

// parent is a process's parent, or 0.
func parent(pid int) (ppid int) {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if i := bytes.LastIndexByte(stat, ')'); i > 0 {
		_, _ = fmt.Sscanf(string(stat[i+1:]), " %1s %d", new(string), &ppid)
	}
	return ppid
}
