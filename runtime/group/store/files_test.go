package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// onNetworks runs f on the network of processes, on that of several machines, beside which files go as on one, and on
// that of goroutines. Meanwhile the collector closes no file that was forgotten.
func onNetworks(t *testing.T, f func(t *testing.T, n Network, job string)) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	tcp, err := TCP("localhost:1", "a token of sixteen bytes")
	if err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]Network{"unix": Unix(), "tcp": tcp, "memory": Memory()} {
		t.Run(name, func(t *testing.T) { f(t, n, fmt.Sprintf("%s-%d", t.Name(), os.Getpid())) })
	}
}

// pipes are files to hand, each of which holds its number.
func pipes(t *testing.T, count int) (ends []*os.File) {
	t.Helper()
	for i := range count {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(w, i)
		w.Close()
		t.Cleanup(func() { r.Close() })
		ends = append(ends, r)
	}
	return ends
}

func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no list of open files here: ", err)
	}
	return len(list)
}

// closes waits until no more files are open: the other end of a connection may be slow to close its own.
func closes(t *testing.T, most int) {
	t.Helper()
	for range 1000 {
		if openFiles(t) <= most {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d files are open, and at most %d may be", openFiles(t), most)
}

// TestFiles hands more files than one message takes, to two ranks, in their order. None stays open.
func TestFiles(t *testing.T) {
	onNetworks(t, func(t *testing.T, n Network, job string) {
		files := pipes(t, 2*atOnce+7)
		h, err := Hand(n, job, 3, files)
		if err != nil {
			t.Fatal(err)
		}
		before := openFiles(t)
		first, err := Take(t.Context(), n, job, 3, len(files))
		if err != nil {
			t.Fatal(err)
		}
		second, err := Take(t.Context(), n, job, 3, len(files))
		if err != nil {
			t.Fatal(err)
		}
		for i := range files {
			text, err := io.ReadAll([]*os.File{first[i], second[i]}[i%2]) // a pipe is read once
			if err != nil || string(text) != fmt.Sprint(i) {
				t.Fatalf("file %d holds %q, %v", i, text, err)
			}
			first[i].Close()
			second[i].Close()
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		closes(t, before)
	})
}

// TestFilesRefused takes from a rank that is not there, hands another number, or stops in the midst.
func TestFilesRefused(t *testing.T) {
	onNetworks(t, func(t *testing.T, n Network, job string) {
		if _, err := Take(t.Context(), n, job, 0, 1); !errors.Is(err, ErrFiles) ||
			!strings.Contains(err.Error(), "take 1 files from rank 0") {
			t.Errorf("a rank that is not there: %v", err)
		}
		before := openFiles(t) // with those of Go's poller
		h, err := Hand(n, job, 0, pipes(t, 2))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Hand(n, job, 0, nil); err == nil {
			t.Error("one rank handed twice at a time")
		}
		if _, err := Take(t.Context(), n, job, 0, 3); !errors.Is(err, ErrFiles) ||
			!strings.Contains(err.Error(), "it has 2") {
			t.Errorf("more files than there are: %v", err)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
		if _, err := Take(t.Context(), n, job, 0, 2); !errors.Is(err, ErrFiles) {
			t.Errorf("after the end: %v", err)
		}
		l, err := machine(n).Listen(counter(job, 0))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			if c, err := l.Accept(); err == nil {
				c.Write([]byte{2, 0, 0, 0, 1}) // a file without its rights
				c.Close()
			}
		}()
		if _, err := Take(t.Context(), n, job, 0, 2); !errors.Is(err, ErrFiles) {
			t.Errorf("a message without files: %v", err)
		}
		l.Close()
		closes(t, before+2) // the pipes
	})
}

// TestFilesInTime takes from a rank that is silent, and closes where one takes nothing.
func TestFilesInTime(t *testing.T) {
	onNetworks(t, func(t *testing.T, n Network, job string) {
		l, err := machine(n).Listen(counter(job, 0))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				if _, err := l.Accept(); err != nil {
					return
				}
			}
		}()
		why := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Millisecond, why)
		defer cancel()
		if _, err := Take(ctx, n, job, 0, 1); !errors.Is(err, why) || errors.Is(err, ErrFiles) {
			t.Errorf("a silent rank: %v", err)
		}
		l.Close()
		h, err := Hand(n, job, 0, pipes(t, 3*atOnce))
		if err != nil {
			t.Fatal(err)
		}
		c, err := machine(n).Dial(t.Context(), counter(job, 0))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := h.Close(); err != nil { // does not wait for who takes nothing
			t.Error(err)
		}
	})
}

// TestFilesOfAnotherProcess: a network that carries no files is noticed.
func TestFilesOfAnotherProcess(t *testing.T) {
	n := Memory()
	l, err := n.Listen(counter("job", 0))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			c.Write([]byte{1, 0, 0, 0})
			c.Write([]byte{1, 0, 0, 0, 5, 0, 0, 0}) // file 5 of process 1
			c.Close()
		}
	}()
	if _, err := Take(t.Context(), n, "job", 0, 1); !errors.Is(err, ErrFiles) ||
		!strings.Contains(err.Error(), "they are files of process 1") {
		t.Errorf("%v", err)
	}
}
