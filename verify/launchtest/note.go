package launchtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ovgen/runtime/launcher"
)

// Note leaves this process's id, the number of ranks and the job's name in dir, in a
// file named after the rank.
func Note(dir string, place launcher.Place) error {
	note := fmt.Sprintf("%d %d %s", os.Getpid(), place.Size, place.Job)
	return os.WriteFile(filepath.Join(dir, fmt.Sprint(place.Rank)), []byte(note), 0o600)
}

// Job reads the job's name from the note of rank 0.
func Job(t *testing.T, dir string) string {
	t.Helper()
	_, _, job, err := read(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// Pids waits for the notes of n ranks and returns their process ids.
func Pids(t *testing.T, dir string, n int) []int {
	t.Helper()
	var pids []int
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		pids = nil
		for r := range n {
			if pid, size, job, err := read(dir, r); err == nil && size == n && len(job) > 10 {
				pids = append(pids, pid)
			}
		}
		if len(pids) == n {
			return pids
		}
	}
	t.Fatalf("%d of %d ranks came", len(pids), n)
	return nil
}

func read(dir string, rank int) (pid, size int, job string, err error) {
	note, err := os.ReadFile(filepath.Join(dir, fmt.Sprint(rank)))
	if err == nil {
		_, err = fmt.Sscan(string(note), &pid, &size, &job)
	}
	return pid, size, job, err
}

// Ended ends the test unless the processes are gone soon.
func Ended(t *testing.T, pids []int, within time.Duration) {
	t.Helper()
	for end := time.Now().Add(within); ; time.Sleep(5 * time.Millisecond) {
		alive := 0
		for _, pid := range pids {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if err == nil && !bytes.Contains(stat, []byte(") Z ")) {
				alive++
			}
		}
		if alive == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d of %d ranks live on", alive, len(pids))
		}
	}
}
