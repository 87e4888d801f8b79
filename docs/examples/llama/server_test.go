package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ovgen/runtime/launch"
)

// TestMain is also what the processes of ranks run.
func TestMain(m *testing.M) {
	if os.Getenv(launch.EnvDriver) == "" {
		os.Setenv(launch.EnvDriver, "sim")
	}
	decorated = withFaults
	mine, err := RankProcess(context.Background())
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	case !mine:
		if flag.Parse(); !testing.Verbose() {
			log.SetOutput(io.Discard)
		}
		os.Exit(m.Run())
	}
}

// counter is the only rank of a crew. Its next token is the last one's successor. It can hold its steps and end.
type counter struct {
	mu    sync.Mutex
	steps []Batch
	hold  chan struct{} // a step takes one, where there is a channel
	begun chan struct{} // gets one when a step begins, where there is a channel
	died  chan struct{}
}

func (c *counter) Step(b Batch, next *[]Best) error {
	select {
	case c.begun <- struct{}{}:
	default:
	}
	if c.hold != nil {
		select {
		case <-c.hold:
		case <-c.died:
			return errors.New("rank 1 is gone")
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.steps = append(c.steps, b)
	for _, row := range b.Rows {
		if !b.Prompt {
			*next = append(*next, Best{Token: row.Token + 1})
		}
	}
	return nil
}

// serving is a server with crews that start makes.
type serving struct {
	*httptest.Server
	t      *testing.T
	server *Server
}

func serveBy(t *testing.T, start func(context.Context) (*Crew, error)) *serving {
	s := &serving{t: t, server: NewServer("tiny", start)}
	s.Server = httptest.NewServer(s.server)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan bool)
	go func() {
		defer close(ended)
		s.server.Run(ctx)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		s.Close()
	})
	return s
}

func (s *serving) healthy() {
	s.t.Helper()
	for range 1000 {
		if r, err := http.Get(s.URL + "/health"); err == nil && r.Body.Close() == nil && r.StatusCode == http.StatusOK {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatal("the ranks do not join")
}

// post sends a request and returns status and body.
func (s *serving) post(body string) (int, string) {
	s.t.Helper()
	r, err := http.Post(s.URL+"/v1/completions", "application/json", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

// reply is what tests read of an answer.
type reply struct {
	Choices []struct {
		Tokens []int   `json:"token_ids"`
		Finish *string `json:"finish_reason"`
	}
	Usage map[string]int
}

// tokens are those of an answer.
func (s *serving) tokens(body string) []int {
	s.t.Helper()
	var r reply
	status, text := s.post(body)
	if err := json.Unmarshal([]byte(text), &r); err != nil || status != http.StatusOK || len(r.Choices) != 1 {
		s.t.Fatalf("status %d: %s", status, text)
	}
	return r.Choices[0].Tokens
}

var few = Model{
	Spec: Spec{Sequences: 2, Room: 32, Buckets: []Bucket{{Rows: 1}, {Rows: 2}, {Rows: 2, Prompt: true},
		{4, true, true}}},
	Config: Config{Vocabulary: 259, Ends: ids{'z' + 1}},
}

// counting serves by a counter.
func counting(t *testing.T, m Model, c *counter) *serving {
	c.died = make(chan struct{})
	s := serveBy(t, func(context.Context) (*Crew, error) {
		return &Crew{m, []Stepper{c}, c.died, func(context.Context) error { return nil }}, nil
	})
	t.Cleanup(func() { close(c.died) }) // before the engine ends, which waits for its step
	s.healthy()
	return s
}

// TestRequests sends good and bad requests to one server, which answers all of them.
func TestRequests(t *testing.T) {
	s := counting(t, few, &counter{})
	for _, x := range []struct {
		name, body string
		status     int
		want       string
	}{
		{"several tokens", `{"model": "tiny", "prompt": [97, 98, 99], "max_tokens": 3}`, 200,
			`"choices":[{"finish_reason":"length","index":0,"logprobs":null,"text":"",` +
				`"token_ids":[100,101,102]}]`},
		{"one token", `{"model": "tiny", "prompt": [96], "max_tokens": 1}`, 200, `"token_ids":[97]`},
		{"chunks", `{"model": "tiny", "prompt": [48, 49, 50, 51, 52, 53, 54, 55, 56, 57], "max_tokens": 1}`, 200,
			`"token_ids":[58]`},
		{"an end", `{"model": "tiny", "prompt": [121], "max_tokens": 9}`, 200,
			`"finish_reason":"stop","index":0,"logprobs":null,"text":"","token_ids":[122]`},
		{"no room left", `{"model": "tiny", "prompt": [48], "max_tokens": 1000, "user": "me"}`, 200,
			`"completion_tokens":31,`},
		{"half a body", `{"model": "tiny"`, 400, "unexpected end of JSON input"},
		{"another model", `{"model": "huge", "prompt": [97]}`, 404, `there is no model \"huge\" (there is \"tiny\")`},
		{"no prompt", `{"model": "tiny"}`, 400, "prompt is no list of token ids, or is empty"},
		{"an empty prompt", `{"model": "tiny", "prompt": []}`, 400, "or is empty"},
		{"a text", `{"model": "tiny", "prompt": "abc"}`, 400, "for text there is no tokenizer"},
		{"no token", `{"model": "tiny", "prompt": [1, null]}`, 400, "prompt[1] is no token"},
		{"half a token", `{"model": "tiny", "prompt": [1.5]}`, 400, "prompt[0] is no token"},
		{"no object", `[]`, 400, "it is no JSON object"},
		{"two prompts", `{"model": "tiny", "prompt": ["a", "b"]}`, 400, "prompt[0] is no token"},
		{"an unknown token", `{"model": "tiny", "prompt": [259]}`, 400,
			"prompt[0] is no token of the vocabulary of 259"},
		{"a long prompt", `{"model": "tiny", "prompt": [1` + strings.Repeat(",1", 31) + `]}`, 413,
			"prompt has 32 tokens"},
		{"heat", `{"model": "tiny", "prompt": [97], "temperature": 0.7}`, 400, "temperature is 0.7 (only 0 is served)"},
		{"defaults", `{"model": "tiny", "prompt": [48], "max_tokens": null, "n": null}`, 200,
			`"completion_tokens":16,`},
		{"several answers", `{"model": "tiny", "prompt": [97], "n": 2}`, 400, "n is 2 (only 1 is served)"},
		{"echo", `{"model": "tiny", "prompt": [97], "echo": true}`, 400, "echo is true (only false is served)"},
		{"logprobs", `{"model": "tiny", "prompt": [97], "logprobs": 1}`, 400, "logprobs is 1 (only null is served)"},
		{"nothing wanted", `{"model": "tiny", "prompt": [97], "max_tokens": 0}`, 400,
			"max_tokens is 0 (at least 1 is made)"},
		{"a stop", `{"model": "tiny", "prompt": [97], "stop": "de"}`, 400, `stop is \"de\" (only null is served)`},
		{"a text for a number", `{"model": "tiny", "prompt": [97], "max_tokens": "3"}`, 400, "max_tokens"},
	} {
		t.Run(x.name, func(t *testing.T) {
			if status, text := s.post(x.body); status != x.status || !strings.Contains(text, x.want) {
				t.Errorf("status %d: %s\nwant %d, %s", status, text, x.status, x.want)
			}
		})
	}
}

// TestStream reads a stream to its end.
func TestStream(t *testing.T) {
	s := counting(t, few, &counter{})
	_, text := s.post(`{"model": "tiny", "prompt": [97], "max_tokens": 3, "stream": true}`)
	var parts []any
	for _, line := range strings.Split(strings.TrimSpace(text), "\n\n") {
		var r reply
		data, ok := strings.CutPrefix(line, "data: ")
		if err := json.Unmarshal([]byte(data), &r); !ok || err != nil {
			parts = append(parts, data)
		} else if c := r.Choices[0]; c.Finish != nil {
			parts = append(parts, len(c.Tokens), *c.Finish, r.Usage["total_tokens"])
		} else {
			parts = append(parts, c.Tokens[0])
		}
	}
	if want := []any{98, 99, 100, 0, "length", 4, "[DONE]"}; !slices.Equal(parts, want) {
		t.Errorf("%v, want %v\n%s", parts, want, text)
	}
}

// TestCancel closes a client's connection in the middle of an endless answer: the only place is free again.
func TestCancel(t *testing.T) {
	c, m := &counter{hold: make(chan struct{})}, few
	m.Sequences, m.Room, m.Ends = 1, 100_000, nil
	s := counting(t, m, c)
	over := make(chan struct{})
	defer close(over)
	go func() { // steps that take so long that the answer's end would be minutes away
		for {
			select {
			case c.hold <- struct{}{}:
				time.Sleep(5 * time.Millisecond)
			case <-over:
				return
			}
		}
	}()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/v1/completions",
		strings.NewReader(`{"model": "tiny", "prompt": [97], "max_tokens": 99999, "stream": true}`))
	if err != nil {
		t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if _, err := bufio.NewReader(reply.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	cancel()
	if got := s.tokens(`{"model": "tiny", "prompt": [48], "max_tokens": 2}`); !slices.Equal(got, []int{'1', '2'}) {
		t.Errorf("the second request got %v", got)
	}
}

// TestTogether has many requests at once: each gets its own tokens, by steps of several rows.
func TestTogether(t *testing.T) {
	c := &counter{hold: make(chan struct{}), begun: make(chan struct{}, 1)}
	s := counting(t, few, c)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			got := s.tokens(fmt.Sprintf(`{"model": "tiny", "prompt": [%d], "max_tokens": 3}`, i))
			if want := []int{i + 1, i + 2, i + 3}; !slices.Equal(got, want) {
				t.Errorf("request %d: %v, want %v", i, got, want)
			}
		})
	}
	ended := make(chan bool)
	go func() { // steps that take so long that requests come in the meantime
		for {
			select {
			case c.hold <- struct{}{}:
				time.Sleep(time.Millisecond)
			case <-ended:
				return
			}
		}
	}()
	all.Wait()
	close(ended)
	if !slices.ContainsFunc(c.steps, func(b Batch) bool { return !b.Prompt && len(b.Rows) == 2 }) {
		t.Error("no step had two requests")
	}
}

// TestEnd ends an engine in the middle of a step: a request that runs and one that waits are told.
func TestEnd(t *testing.T) {
	c := &counter{hold: make(chan struct{}), begun: make(chan struct{}, 1), died: make(chan struct{})}
	m := few
	m.Sequences = 1
	e := NewServer("tiny", func(context.Context) (*Crew, error) {
		return &Crew{m, []Stepper{c}, c.died, func(context.Context) error { return nil }}, nil
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan bool)
	go func() {
		defer close(ended)
		e.Run(ctx)
	}()
	var now *session
	for now = e.now.Load(); now.Crew == nil; now = e.now.Load() {
		time.Sleep(time.Millisecond)
	}
	runs, err := now.Submit(t.Context(), []int{1}, 9)
	if err != nil {
		t.Fatal(err)
	}
	waits := make(chan error)
	go func() {
		_, err := now.Submit(t.Context(), []int{1}, 9)
		waits <- err
	}()
	<-c.begun
	stop()
	close(c.died) // a rank's step ends when ctx does
	<-ended
	if token, ok := <-runs.Tokens; ok || !errors.Is(runs.Err, errClosed) {
		t.Errorf("the request that runs: token %d, error %v", token, runs.Err)
	}
	if err := <-waits; !errors.Is(err, errClosed) {
		t.Errorf("the request that waits: %v", err)
	}
}
