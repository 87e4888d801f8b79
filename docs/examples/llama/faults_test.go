package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ovgen/runtime/device"
	"ovgen/runtime/driver"
	"ovgen/runtime/driver/around"
	"ovgen/runtime/group"
	"ovgen/runtime/launch"
	"ovgen/verify/inject"
	"ovgen/verify/launchtest"
	"ovgen/verify/sampling"
)

// envFault is the path of a file that names the fault of rank 1, which takes it away when it launches a step.
const envFault = "OVGEN_TEST_FAULT"

// faults are ways for a rank to die at a launch.
var faults = map[string]func(d *faulty) error{
	"error": func(*faulty) error { return errors.New("the power went") },
	"panic": func(*faulty) error { panic("index out of range") },
	"device": func(d *faulty) error {
		d.lost.Store(true)
		return d.call("GraphLaunch")
	},
	"kill": func(*faulty) error { return syscall.Kill(os.Getpid(), syscall.SIGKILL) },
	"stop": func(*faulty) error { return syscall.Kill(os.Getpid(), syscall.SIGSTOP) },
}

// faulty is a driver whose device may be lost: calls fail from then on, as behind an illegal address.
type faulty struct {
	*inject.Filter
	lost atomic.Bool
}

// withFaults makes the device of rank 1 faulty. Processes of ranks leave notes of themselves.
func withFaults(c group.Config) group.Config {
	if path := os.Getenv(envFault); path != "" && launch.IsRank() {
		place, err := launch.FindPlace()
		if err = errors.Join(err, launchtest.Note(filepath.Dir(path), place)); err != nil {
			log.Print(err)
		}
	}
	c.Decorate = func(d driver.Driver) driver.Driver {
		if d.Properties().Ordinal != 1 {
			return d
		}
		f := &faulty{Filter: inject.New(d)}
		f.Before = func(c *around.Call) error {
			path := os.Getenv(envFault)
			if c.Name != "GraphLaunch" || path == "" || f.lost.Load() {
				return f.call(c.Name)
			}
			kind, err := os.ReadFile(path)
			if err != nil || os.Remove(path) != nil {
				return nil
			}
			return faults[string(kind)](f)
		}
		return f
	}
	return c
}

func (f *faulty) call(name string) error {
	if f.lost.Load() {
		return &driver.Status{Call: name, Code: 700, Text: "CUDA_ERROR_ILLEGAL_ADDRESS"}
	}
	return nil
}

// MemcpyHtoD fails on a lost device.
func (f *faulty) MemcpyHtoD(to driver.Ptr, from []byte) error {
	return errors.Join(f.call("MemcpyHtoD"), f.Filter.MemcpyHtoD(to, from))
}

// EventQuery fails on a lost device.
func (f *faulty) EventQuery(e driver.Event) (bool, error) {
	done, err := f.Filter.EventQuery(e)
	return done, errors.Join(f.call("EventQuery"), err)
}

// StreamSynchronize fails on a lost device.
func (f *faulty) StreamSynchronize(s driver.Stream) error {
	return errors.Join(f.call("StreamSynchronize"), f.Filter.StreamSynchronize(s))
}

// TestRankDies has a rank die in every way, or stop, in the middle of a stream, which gets an error: the ranks join
// again, and the same request has the same tokens as before.
func TestRankDies(t *testing.T) {
	sampling.Test(t, 1, 4)
	dir, _ := tiny(t, Tiny)
	for _, x := range []struct {
		name      string
		processes bool
		nccl      string
		faults    []string
		timeout   time.Duration
	}{
		{"goroutines", false, "", []string{"error", "panic", "device"}, 0},
		{"goroutines by NCCL", false, "1", []string{"panic"}, 0},
		{"processes", true, "", []string{"error", "panic", "device", "kill"}, 0},
		{"stopped processes", true, "", []string{"stop"}, time.Second},
	} {
		t.Run(x.name, func(t *testing.T) {
			spec := small.in(dir)
			spec.Processes, spec.Timeout = x.processes, x.timeout
			t.Setenv(envNCCL, x.nccl)
			path := filepath.Join(t.TempDir(), "fault")
			t.Setenv(envFault, path)
			s := serveBy(t, spec.Start)
			s.healthy()
			const short = `{"model": "tiny", "prompt": [256, 84, 104, 101, 32], "max_tokens": 4}`
			want := s.tokens(short)
			for _, fault := range x.faults {
				r, err := http.Post(s.URL+"/v1/completions", "application/json",
					strings.NewReader(`{"model": "tiny", "prompt": [72, 101], "max_tokens": 100, "stream": true}`))
				if err != nil {
					t.Fatal(err)
				}
				lines := bufio.NewReader(r.Body)
				if _, err := lines.ReadString('\n'); err != nil {
					t.Fatal(err)
				}
				whole := path + ".whole" // when it gets its name
				if err := errors.Join(os.WriteFile(whole, []byte(fault), 0o600), os.Rename(whole, path)); err != nil {
					t.Fatal(err)
				}
				rest, err := io.ReadAll(lines)
				if err != nil || !strings.Contains(string(rest), `{"error":{"message":"a rank died`) ||
					!strings.HasSuffix(string(rest), "data: [DONE]\n\n") {
					t.Errorf("%s: %v\n%s", fault, err, rest)
				}
				r.Body.Close()
				if status := s.health(); status != http.StatusServiceUnavailable && fault == "stop" {
					t.Errorf("/health is %d while a rank is stopped", status)
				}
				s.healthy()
				if got := s.tokens(short); !slices.Equal(got, want) {
					t.Errorf("behind %s: %v, and before %v", fault, got, want)
				}
			}
			if x.processes {
				s.idle(launchtest.Pids(t, filepath.Dir(path), spec.Ranks))
			}
		})
	}
}

// idle kills rank 1 while no request runs: other ranks serve the next one.
func (s *serving) idle(pids []int) {
	s.t.Helper()
	if err := syscall.Kill(pids[1], syscall.SIGKILL); err != nil {
		s.t.Fatal(err)
	}
	for s.health() == http.StatusOK {
		time.Sleep(time.Millisecond)
	}
	launchtest.Ended(s.t, pids, 10*time.Second)
	s.healthy()
}

// TestBadCheckpoints starts a server with checkpoints that can't be served yet: it answers with the reason, and serves
// when the checkpoint has been mended.
func TestBadCheckpoints(t *testing.T) {
	write := func(t *testing.T, path string, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lacks := func(change func(w map[string]Array)) func(t *testing.T, config, tensors string) {
		return func(t *testing.T, _, tensors string) {
			weights := Random(Tiny, seed)
			change(weights)
			if err := writeTensors(tensors, "BF16", weights); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, x := range []struct {
		name string
		harm func(t *testing.T, config, tensors string)
		want string
	}{
		{"no config", func(t *testing.T, config, _ string) { os.Remove(config) }, "config.json: no such file"},
		{"half a config", func(t *testing.T, config, _ string) { write(t, config, []byte("{")) },
			"it is no JSON object"},
		{"no tensors", func(t *testing.T, _, tensors string) { os.Remove(tensors) }, "model.safetensors: no such file"},
		{"a truncated file", func(t *testing.T, _, tensors string) {
			info, err := os.Stat(tensors)
			if err = errors.Join(err, os.Truncate(tensors, info.Size()-1)); err != nil {
				t.Fatal(err)
			}
		}, "the file may be truncated"},
		{"a missing tensor", lacks(func(w map[string]Array) { delete(w, "model.layers.1.mlp.up_proj.weight") }),
			"tensor model.layers.1.mlp.up_proj.weight: it is not in the checkpoint"},
		{"a misshapen tensor", lacks(func(w map[string]Array) {
			w["model.norm.weight"] = Array{Shape: []int{2}, Data: make([]float32, 2)}
		}), "tensor model.norm.weight: its shape is [2], and [96] is wanted"},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			dir, weights := tiny(t, Tiny)
			x.harm(t, filepath.Join(dir, "config.json"), filepath.Join(dir, "model.safetensors"))
			s := serveBy(t, Spec{Dir: dir, Ranks: 1, Type: device.FP32, Sequences: 1, Room: 16,
				Buckets: []Bucket{{Rows: 1}}}.Start)
			const body = `{"model": "tiny", "prompt": [72], "max_tokens": 2}`
			status, text := s.post(body)
			for strings.Contains(text, "are joining") {
				time.Sleep(time.Millisecond)
				status, text = s.post(body)
			}
			var answer struct{ Error struct{ Message string } }
			if err := json.Unmarshal([]byte(text), &answer); err != nil || status != http.StatusServiceUnavailable ||
				!strings.Contains(answer.Error.Message, x.want) {
				t.Errorf("status %d: %s\nwant %q", status, text, x.want)
			}
			if err := WriteCheckpoint(dir, Tiny, weights); err != nil {
				t.Fatal(err)
			}
			s.healthy()
			if got := s.tokens(body); len(got) != 2 {
				t.Errorf("tokens %v of the mended checkpoint", got)
			}
		})
	}
}

// TestWaiting has requests that wait when a rank dies: they get its error, and later ones why the ranks don't join.
func TestWaiting(t *testing.T) {
	c := &counter{hold: make(chan struct{}), begun: make(chan struct{}, 1), died: make(chan struct{})}
	starts := 0
	s := serveBy(t, func(context.Context) (*Crew, error) {
		if starts++; starts > 1 {
			return nil, errors.New("the disk is gone")
		}
		return &Crew{few, []Stepper{c}, c.died, func(context.Context) error { return nil }}, nil
	})
	s.healthy()
	const body = `{"model": "tiny", "prompt": [97]}`
	answers := make(chan string)
	for range 2 * few.Sequences {
		go func() {
			_, text := s.post(body)
			answers <- text
		}()
	}
	<-c.begun
	close(c.died)
	for range 2 * few.Sequences {
		if text := <-answers; !strings.Contains(text, "a rank died") && !strings.Contains(text, "the disk is gone") {
			t.Error(text)
		}
	}
	for text := ""; !strings.Contains(text, "the ranks can't serve: the disk is gone"); _, text = s.post(body) {
		time.Sleep(time.Millisecond)
	}
}
