package main

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"time"
)

// completion has the fields that the server reads of a request.
type completion struct {
	Model  string `json:"model"`
	Prompt tokens `json:"prompt"`
	Most   int    `json:"max_tokens"`
	Stream bool   `json:"stream"`
}

// onlyRequests are all fields of OpenAI's completions. A field that can change the answer has the one value that leaves
// it as it is; only that and null are served.
var onlyRequests = map[string]any{
	"model": anything{}, "prompt": anything{}, "max_tokens": anything{}, "stream": anything{},
	"stream_options": anything{}, "seed": anything{}, "user": anything{},
	"best_of": 1.0, "echo": false, "frequency_penalty": 0.0, "logit_bias": map[string]any{}, "logprobs": nil, "n": 1.0,
	"presence_penalty": 0.0, "stop": []any{}, "suffix": "", "temperature": 0.0, "top_p": 1.0,
}

// tokens are token ids. A null in the list becomes -1.
type tokens []int

// UnmarshalJSON reads the list.
func (p *tokens) UnmarshalJSON(b []byte) error {
	var list []*int
	if err := json.Unmarshal(b, &list); err != nil {
		return fmt.Errorf("prompt is no list of token ids (for text there is no tokenizer): %w", err)
	}
	for _, token := range list {
		*p = append(*p, *cmp.Or(token, new(-1)))
	}
	return nil
}

// Problem is an error with the status that clients get.
type Problem struct {
	error
	Status int
}

// problem makes a Problem by a format of fmt.Errorf.
func problem(status int, format string, args ...any) error {
	return &Problem{fmt.Errorf(format, args...), status}
}

// described returns an error's status, and the body that tells clients of it.
func described(err error) (status int, body any) {
	status, kind := http.StatusInternalServerError, "server_error"
	if p := (*Problem)(nil); errors.As(err, &p) {
		status = p.Status
	}
	if status < 500 {
		kind = "invalid_request_error"
	}
	return status, map[string]any{"error": map[string]string{"message": err.Error(), "type": kind}}
}

// Web is an HTTP server. Clients have s.patience to send a request, and as long to read an answer or an event.
func (s *Server) Web() *http.Server {
	return &http.Server{Handler: s, ReadHeaderTimeout: s.patience, ReadTimeout: s.patience,
		IdleTimeout: 10 * s.patience, MaxHeaderBytes: 64 << 10}
}

// ServeHTTP has the server's three paths.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := s.now.Load()
	err := now.err
	switch r.Method + " " + r.URL.Path {
	case "GET /health":
	case "GET /v1/models":
		model := map[string]any{"id": s.model, "object": "model", "created": time.Now().Unix(), "owned_by": "ovgen"}
		s.send(w, http.StatusOK, map[string]any{"object": "list", "data": []any{model}})
		return
	case "POST /v1/completions":
		if err == nil {
			err = s.complete(w, r, now)
		}
	default:
		err = problem(http.StatusNotFound, "there is POST /v1/completions, GET /v1/models and GET /health")
	}
	if err != nil {
		status, body := described(err)
		s.send(w, status, body)
	}
}

func (s *Server) send(w http.ResponseWriter, status int, body any) {
	s.bound(w)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that is gone needs no answer
}

// bound sets the time by which the client must have read the next writes.
func (s *Server) bound(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.patience)) // a test's writer has none
}

// parse reads a request.
func (s *Server) parse(w http.ResponseWriter, r *http.Request, crew *Crew) (c completion, err error) {
	c.Most = 16
	most := 8*int64(crew.Room) + 64<<10 // 8 for a token
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err == nil {
		err = readJSON(body, &c, onlyRequests, true)
	}
	wrong := slices.IndexFunc(c.Prompt, func(token int) bool { return token < 0 || token >= crew.Vocabulary })
	switch {
	case errors.As(err, new(*http.MaxBytesError)):
		err = problem(http.StatusRequestEntityTooLarge, "a request has at most %d bytes", most)
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = problem(http.StatusRequestTimeout, "the request has not come within %v", s.patience)
	case err != nil:
		err = problem(http.StatusBadRequest, "%w", err)
	case c.Model != s.model:
		err = problem(http.StatusNotFound, "there is no model %q (there is %q)", c.Model, s.model)
	case len(c.Prompt) == 0:
		err = problem(http.StatusBadRequest, "prompt is missing or empty")
	case wrong >= 0:
		err = problem(http.StatusBadRequest, "prompt[%d] is no token of the vocabulary of %d", wrong, crew.Vocabulary)
	case c.Most < 1:
		err = problem(http.StatusBadRequest, "max_tokens is %d (at least 1 is made)", c.Most)
	case len(c.Prompt) >= crew.Room:
		err = problem(http.StatusRequestEntityTooLarge, "prompt has %d tokens, and a sequence has room for %d with "+
			"its answer", len(c.Prompt), crew.Room)
	}
	return c, err
}

// complete answers a request. The caller sends an error that it returns. An error behind the first event of a stream is
// the stream's last event.
func (s *Server) complete(w http.ResponseWriter, r *http.Request, now *session) error {
	select {
	case now.here <- struct{}{}:
		defer func() { <-now.here }()
	default:
		return problem(http.StatusTooManyRequests, "%d requests are here already (try again later)", cap(now.here))
	}
	c, err := s.parse(w, r, now.Crew)
	if err != nil {
		return err
	}
	q, err := now.Submit(r.Context(), c.Prompt, c.Most) // given up when this function returns
	if err != nil {
		return err
	}
	id, created := "cmpl-"+rand.Text(), time.Now().Unix()
	// reply is an answer or an event of a stream, in OpenAI's form. The text is empty, since there is no tokenizer.
	reply := func(tokens []int, finish *string, usage any) any {
		choice := map[string]any{"index": 0, "text": "", "token_ids": tokens, "logprobs": nil, "finish_reason": finish}
		return map[string]any{"id": id, "object": "text_completion", "created": created, "model": s.model,
			"choices": []any{choice}, "usage": usage}
	}
	n, rest := 0, []int{} // all tokens, and the ones that were not streamed
	for token := range q.Tokens {
		if n++; !c.Stream {
			rest = append(rest, token)
		} else if s.event(w, reply([]int{token}, nil, nil)) != nil {
			return nil // the client has gone
		}
	}
	if q.Err != nil && (!c.Stream || n == 0) {
		return q.Err
	}
	last := reply(rest, &q.Finish, map[string]int{"prompt_tokens": len(c.Prompt), "completion_tokens": n,
		"total_tokens": len(c.Prompt) + n})
	if !c.Stream {
		s.send(w, http.StatusOK, last)
		return nil
	}
	if q.Err != nil {
		_, last = described(q.Err)
	}
	_ = s.event(w, last)
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
	return nil
}

// event writes one event of a stream.
func (s *Server) event(w http.ResponseWriter, x any) error {
	s.bound(w)
	w.Header().Set("Content-Type", "text/event-stream")
	b, err := json.Marshal(x)
	if err == nil {
		_, err = fmt.Fprintf(w, "data: %s\n\n", b)
	}
	return cmp.Or(err, http.NewResponseController(w).Flush())
}
