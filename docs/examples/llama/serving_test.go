package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// counter is the only rank of a crew. Its next token is the last one's successor. It can hold its steps and end.
type counter struct {
	mu     sync.Mutex
	steps  []Batch
	flight []Batch         // launched
	chosen map[int32]int32 // by what stands for them
	hold   chan struct{}   // a step takes one, where there is a channel
	begun  chan struct{}   // gets one when a step begins, where there is a channel
	died   chan struct{}
}

func (c *counter) Launch(b Batch, _ *bool) error {
	select {
	case c.begun <- struct{}{}:
	default:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flight = append(c.flight, b)
	if len(c.flight) > slots {
		return errors.New("more steps than there are slots")
	}
	return nil
}

func (c *counter) Wait(_ bool, next *[]Best) error {
	if c.hold != nil {
		select {
		case <-c.hold:
		case <-c.died:
			return errors.New("rank 1 is gone")
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	b, n, made := c.flight[0], len(c.steps), map[int32]int32{}
	c.flight, c.steps = c.flight[1:], append(c.steps, b)
	for i, row := range b.Rows {
		if row.Token < 0 {
			row.Token = c.chosen[row.Token]
		}
		if made[Choice(n, i)] = row.Token + 1; !b.Prompt {
			*next = append(*next, Best{Token: row.Token + 1})
		}
	}
	c.chosen = made
	return nil
}

// serving is a server with crews that start makes.
type serving struct {
	*httptest.Server
	t      *testing.T
	server *Server
}

func serveBy(t *testing.T, start func(context.Context) (*Crew, error)) *serving {
	return serve(t, NewServer("tiny", start))
}

func serve(t *testing.T, server *Server) *serving {
	s := &serving{t: t, server: server}
	s.Server = httptest.NewUnstartedServer(nil)
	s.Config = s.server.Web()
	s.Start()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan bool)
	go func() {
		defer close(ended)
		if err := s.server.Run(ctx); err != nil {
			t.Error(err)
		}
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
		if s.health() == http.StatusOK {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatal("the ranks do not join")
}

// health is the status of /health.
func (s *serving) health() int {
	s.t.Helper()
	r, err := http.Get(s.URL + "/health")
	if err != nil {
		s.t.Fatal(err)
	}
	r.Body.Close()
	return r.StatusCode
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

// reply has the fields of an answer that tests read.
type reply struct {
	Choices []struct {
		Tokens []int   `json:"token_ids"`
		Finish *string `json:"finish_reason"`
	}
	Usage map[string]int
}

// tokens returns the tokens of the answer to a request.
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
	return countingFor(t, m, c, 10*time.Second)
}

// countingFor is counting with so much patience.
func countingFor(t *testing.T, m Model, c *counter, patience time.Duration) *serving {
	c.died = make(chan struct{})
	server := NewServer("tiny", func(context.Context) (*Crew, error) {
		return &Crew{m, []Stepper{c}, c.died, func(context.Context) error { return nil }}, nil
	})
	server.patience = patience
	s := serve(t, server)
	t.Cleanup(func() { close(c.died) }) // before the engine ends, which waits for its step
	s.healthy()
	return s
}
