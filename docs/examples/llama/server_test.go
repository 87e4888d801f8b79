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
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ovgen/runtime/launcher"
)

// TestMain is also the main of rank processes.
func TestMain(m *testing.M) {
	if os.Getenv(launcher.EnvDriver) == "" {
		os.Setenv(launcher.EnvDriver, "sim")
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
		{"no prompt", `{"model": "tiny"}`, 400, "prompt is missing or empty"},
		{"an empty prompt", `{"model": "tiny", "prompt": []}`, 400, "prompt is missing or empty"},
		{"a text", `{"model": "tiny", "prompt": "abc"}`, 400, "for text there is no tokenizer"},
		{"no token", `{"model": "tiny", "prompt": [1, null]}`, 400, "prompt[1] is no token"},
		{"half a token", `{"model": "tiny", "prompt": [1.5]}`, 400, "prompt is no list of token ids"},
		{"no object", `[]`, 400, "it is no JSON object"},
		{"two prompts", `{"model": "tiny", "prompt": ["a", "b"]}`, 400, "prompt is no list of token ids"},
		{"an unknown token", `{"model": "tiny", "prompt": [259]}`, 400,
			"prompt[0] is no token of the vocabulary of 259"},
		{"a long prompt", `{"model": "tiny", "prompt": [1` + strings.Repeat(",1", 31) + `]}`, 413,
			"prompt has 32 tokens"},
		{"a token below", `{"model": "tiny", "prompt": [-1]}`, 400, "prompt[0] is no token"},
		{"defaults", `{"model": "tiny", "prompt": [48], "max_tokens": null, "n": null}`, 200,
			`"completion_tokens":16,`},
		{"nothing wanted", `{"model": "tiny", "prompt": [97], "max_tokens": 0}`, 400,
			"max_tokens is 0 (at least 1 is made)"},
		{"a large body", `{"model": "` + strings.Repeat(" ", 32*8+64<<10) + `"}`, 413,
			"a request has at most 65792 bytes"},
		{"a text for a number", `{"model": "tiny", "prompt": [97], "max_tokens": "3"}`, 400, "max_tokens"},
	} {
		t.Run(x.name, func(t *testing.T) {
			if status, text := s.post(x.body); status != x.status || !strings.Contains(text, x.want) {
				t.Errorf("status %d: %s\nwant %d, %s", status, text, x.status, x.want)
			}
		})
	}
}

// TestFields sends every field of OpenAI's completions, and some of other servers: with a value that would change the
// answer it is refused by its name, and with others it is served.
func TestFields(t *testing.T) {
	s := counting(t, few, &counter{})
	for _, x := range []struct{ name, served, refused string }{
		{"best_of", "1", "2"},
		{"echo", "false", "true"},
		{"frequency_penalty", "0", "0.5"},
		{"logit_bias", "{}", `{"98": -100}`},
		{"logprobs", "null", "0"},
		{"max_tokens", "1", `"1"`},
		{"n", "1", "2"},
		{"presence_penalty", "0.0", "-1"},
		{"seed", "7", ""},
		{"stop", "[]", `"de"`},
		{"stop", "null", `["de"]`},
		{"stream", "false", "1"},
		{"stream_options", `{"include_usage": true}`, ""},
		{"suffix", `""`, `"fin"`},
		{"temperature", "0.0", "0.7"},
		{"top_p", "1", "0.9"},
		{"user", `"me"`, ""},
		{"repetition_penalty", "", "1.1"}, // of other servers
		{"stop_token_ids", "", "[99]"},
		{"top_k", "", "40"},
		{"Temperature", "", "0.7"},
		{"guided_json", "", "null"},
	} {
		const body = `{"model": "tiny", "prompt": [97], "%s": %s}`
		for _, value := range []string{x.served, "null"} {
			if status, text := s.post(fmt.Sprintf(body, x.name, value)); x.served != "" && (status != http.StatusOK ||
				!strings.Contains(text, `"token_ids":[98`)) {
				t.Errorf("%s %s: status %d: %s", x.name, value, status, text)
			}
		}
		status, text := s.post(fmt.Sprintf(body, x.name, x.refused))
		if x.refused != "" && (status != http.StatusBadRequest || !strings.Contains(text, x.name)) {
			t.Errorf("%s %s: status %d: %s", x.name, x.refused, status, text)
		}
	}
}

// TestModels lists the only model.
func TestModels(t *testing.T) {
	s := counting(t, few, &counter{})
	r, err := http.Get(s.URL + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var list struct{ Data []struct{ ID string } }
	if err := json.NewDecoder(r.Body).Decode(&list); err != nil || len(list.Data) != 1 || list.Data[0].ID != "tiny" {
		t.Errorf("status %d: %+v, %v", r.StatusCode, list, err)
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

// TestTogether has many requests at once: each gets its tokens, by steps of several rows.
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

// TestIdle has ranks die while no request runs: others serve without being asked.
func TestIdle(t *testing.T) {
	dies := make(chan struct{})
	again := make(chan bool)
	starts := 0
	serveBy(t, func(context.Context) (*Crew, error) {
		if starts++; starts == 2 {
			close(again)
		}
		return &Crew{few, []Stepper{&counter{}}, dies, func(context.Context) error { dies = nil; return nil }}, nil
	}).healthy()
	close(dies)
	select {
	case <-again:
	case <-time.After(10 * time.Second):
		t.Error("ranks have died, and no others have started")
	}
}

// mute is a rank that never answers, or fails.
type mute struct{ err error }

func (m mute) Wait(bool, *[]Best) error { return nil }

func (m mute) Launch(Batch, *bool) error {
	if m.err == nil {
		select {}
	}
	return m.err
}

// TestMute has ranks that never answer: a step ends, and says which ranks they are.
func TestMute(t *testing.T) {
	m := few
	m.Timeout = 50 * time.Millisecond
	for _, x := range []struct {
		ranks []Stepper
		want  string
	}{
		{[]Stepper{mute{errors.New("it is late")}, mute{}}, "rank 0: it is late\nrank 1: stopped or stuck"},
		{[]Stepper{&counter{}, mute{}}, "rank 1: stopped or stuck"},
		{[]Stepper{mute{}, mute{}}, "stopped or stuck"},
	} {
		_, err := (&Crew{Model: m, Ranks: x.ranks}).Step(Batch{})
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%v, want %q", err, x.want)
		}
	}
	ctx, done := context.WithTimeout(t.Context(), 10*time.Second)
	defer done()
	ranks := []mute{{errors.New("it is late")}, {}}
	err := each(ctx, 2, time.Millisecond, func(r int) error { return ranks[r].Launch(Batch{}, nil) })
	if !errors.Is(err, errSilent) || ctx.Err() != nil {
		t.Errorf("%v behind a rank that failed: %v", err, ctx.Err())
	}
}

// TestRunEnds has a model that is not served, and ranks that can't be ended: Run returns the error.
func TestRunEnds(t *testing.T) {
	c := &counter{}
	dead := make(chan struct{})
	close(dead)
	for want, start := range map[error]func(context.Context) (*Crew, error){
		errDied: func(context.Context) (*Crew, error) { return nil, fmt.Errorf("open: %w", NeverError{errDied}) },
		errSilent: func(context.Context) (*Crew, error) {
			return &Crew{few, []Stepper{c}, dead, func(context.Context) error { return errSilent }}, nil
		},
	} {
		s := NewServer("tiny", start)
		ctx, done := context.WithTimeout(t.Context(), 10*time.Second)
		defer done()
		if err := s.Run(ctx); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
		if now := s.now.Load(); !errors.Is(now.err, errClosed) {
			t.Errorf("requests get %v behind %v", now.err, want)
		}
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
		if err := e.Run(ctx); err != nil {
			t.Error(err)
		}
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
