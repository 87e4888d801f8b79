package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Server answers OpenAI's completions requests with an engine.
type Server struct {
	Engine     *Engine
	Model      string
	Vocabulary int
	// Bytes says that a token below 256 is a byte, so that requests and replies may have text. Other models' text
	// takes a tokenizer: their requests and replies have token ids.
	Bytes bool
}

// completion is a request; fields that are neither here nor in onlyRequests are ignored.
type completion struct {
	Model  string   `json:"model"`
	Prompt prompted `json:"prompt"`
	Most   int      `json:"max_tokens"`
	Stream bool     `json:"stream"`
}

// prompted is a text, of which a byte is a token, or a list of tokens.
type prompted struct {
	text   bool
	tokens []int
}

// UnmarshalJSON reads either.
func (p *prompted) UnmarshalJSON(b []byte) error {
	var text string
	if p.text = json.Unmarshal(b, &text) == nil; p.text {
		for _, c := range []byte(text) {
			p.tokens = append(p.tokens, int(c))
		}
		return nil
	}
	var list []*int
	if json.Unmarshal(b, &list) != nil || slices.Contains(list, nil) {
		return errors.New("prompt is neither one text nor one list of token ids")
	}
	for _, token := range list {
		p.tokens = append(p.tokens, *token)
	}
	return nil
}

// onlyRequests are fields that would change the answer, with the values that are served.
var onlyRequests = map[string]any{"temperature": 0.0, "n": 1.0, "echo": false, "logprobs": nil, "stop": nil}

// Reply is an answer, and in a stream a part of it.
type Reply struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []Choice `json:"choices"`
	Usage   *Usage   `json:"usage,omitempty"`
}

// Choice is the text, and its tokens, which OpenAI's replies lack.
type Choice struct {
	Index    int     `json:"index"`
	Text     string  `json:"text"`
	Tokens   []int   `json:"token_ids"`
	Logprobs *int    `json:"logprobs"`
	Finish   *string `json:"finish_reason"`
}

// Usage counts tokens.
type Usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
}

// Problem is an error with the status that clients get.
type Problem struct {
	Status  int
	Message string
}

// Error is the message.
func (p *Problem) Error() string { return p.Message }

// What an engine says of requests that may be sent again.
var (
	ErrFull   = &Problem{http.StatusTooManyRequests, "too many requests wait (try again later)"}
	ErrJoins  = &Problem{http.StatusServiceUnavailable, "the ranks are joining (try again later)"}
	errDied   = &Problem{http.StatusServiceUnavailable, "a rank died; the ranks join again (try again later)"}
	errClosed = &Problem{http.StatusServiceUnavailable, "the server ends"}
)

// described is an error as clients read it, and its status.
func described(err error) (int, any) {
	status, kind := http.StatusInternalServerError, "server_error"
	if p := (*Problem)(nil); errors.As(err, &p) {
		status = p.Status
	}
	if status < 500 {
		kind = "invalid_request_error"
	}
	return status, map[string]any{"error": map[string]string{"message": err.Error(), "type": kind}}
}

// Handler has the server's paths.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/completions", func(w http.ResponseWriter, r *http.Request) {
		answer(w, s.complete(w, r))
	})
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, r *http.Request) {
		if !s.Engine.Ready() {
			answer(w, ErrJoins)
		}
	})
	return mux
}

// answer sends an error, if there is one.
func answer(w http.ResponseWriter, err error) {
	if err == nil {
		return
	}
	status, x := described(err)
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(x) // a client that is gone needs no answer
}

// mostBody bounds a request in bytes.
const mostBody = 16 << 20

// parse reads a request.
func (s *Server) parse(r *http.Request) (completion, error) {
	c := completion{Most: 16}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, mostBody))
	if err = cmp.Or(err, readJSON(body, &c, onlyRequests)); err != nil {
		return c, &Problem{http.StatusBadRequest, err.Error()}
	}
	status, tokens, room := http.StatusBadRequest, c.Prompt.tokens, s.Engine.Room
	switch {
	case c.Model != s.Model:
		status, err = http.StatusNotFound, fmt.Errorf("there is no model %q (there is %q)", c.Model, s.Model)
	case c.Most < 1:
		err = fmt.Errorf("max_tokens is %d (at least 1 is made)", c.Most)
	case c.Prompt.text && !s.Bytes:
		err = errors.New("prompt is text, and the server has no tokenizer (send token ids)")
	case len(tokens) == 0:
		err = errors.New("prompt is empty")
	case slices.Min(tokens) < 0 || slices.Max(tokens) >= s.Vocabulary:
		err = fmt.Errorf("prompt has a token that is not in the vocabulary of %d", s.Vocabulary)
	case len(tokens) >= room:
		status, err = http.StatusRequestEntityTooLarge, fmt.Errorf("prompt has %d tokens, and a sequence has room for %d "+
			"with its answer", len(tokens), room)
	default:
		return c, nil
	}
	return c, &Problem{status, err.Error()}
}

// complete answers a request. An error that it returns is the answer; a later one is the last event of the stream.
func (s *Server) complete(w http.ResponseWriter, r *http.Request) error {
	c, err := s.parse(r)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel() // gives the request up, however the answer ends
	q, err := s.Engine.Submit(ctx, c.Prompt.tokens, c.Most)
	if err != nil {
		return err
	}
	reply := Reply{ID: "cmpl-" + rand.Text(), Object: "text_completion", Created: time.Now().Unix(), Model: s.Model}
	all, held := Choice{Tokens: []int{}}, []byte{}
	for token := range q.Tokens {
		part := Choice{Tokens: []int{token}}
		if s.Bytes && token < 256 {
			part.Text, held = characters(append(held, byte(token)))
		}
		all.Text, all.Tokens = all.Text+part.Text, append(all.Tokens, token)
		if reply.Choices = []Choice{part}; c.Stream && event(w, reply) != nil {
			return nil // the client has gone
		}
	}
	n := len(all.Tokens)
	if q.Err != nil && (!c.Stream || n == 0) {
		return q.Err
	}
	last := &all
	if c.Stream {
		last = &Choice{Tokens: []int{}}
	}
	last.Text, last.Finish = last.Text+strings.ToValidUTF8(string(held), "\ufffd"), &q.Finish
	reply.Choices, reply.Usage = []Choice{*last}, &Usage{len(c.Prompt.tokens), n, len(c.Prompt.tokens) + n}
	if !c.Stream {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(reply)
		return nil
	}
	var end any = reply
	if q.Err != nil {
		_, end = described(q.Err)
	}
	_ = event(w, end)
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
	return nil
}

// writeTimeout bounds each write to a client, so that one that does not read is given up.
const writeTimeout = 10 * time.Second

// event writes one event of a stream.
func event(w http.ResponseWriter, x any) error {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	_ = out.SetWriteDeadline(time.Now().Add(writeTimeout)) // a recorder of tests has none
	b, err := json.Marshal(x)
	if err == nil {
		_, err = fmt.Fprintf(w, "data: %s\n\n", b)
	}
	return cmp.Or(err, out.Flush())
}

// characters are the whole ones that bytes begin with. The rest waits for its end.
func characters(b []byte) (text string, rest []byte) {
	for utf8.FullRune(b) {
		r, n := utf8.DecodeRune(b)
		text, b = text+string(r), b[n:]
	}
	return text, b
}
