package main

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"time"
)

// completion is a request; fields that are neither here nor in onlyRequests are ignored.
type completion struct {
	Model  string `json:"model"`
	Prompt any    `json:"prompt"`
	Most   int    `json:"max_tokens"`
	Stream bool   `json:"stream"`
}

// onlyRequests are fields that would change the answer, with the values that are served.
var onlyRequests = map[string]any{"temperature": 0.0, "n": 1.0, "echo": false, "logprobs": nil, "stop": nil}

// Problem is an error with the status that clients get.
type Problem struct {
	Status  int
	Message string
}

// Error is the message.
func (p *Problem) Error() string { return p.Message }

// described is an error as clients read it, and its status.
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

// ServeHTTP has the server's two paths.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := s.now.Load()
	err := now.err
	switch path := r.Method + " " + r.URL.Path; {
	case path != "POST /v1/completions" && path != "GET /health":
		err = &Problem{http.StatusNotFound, "there is POST /v1/completions, and GET /health"}
	case now.Crew != nil && r.Method == "POST":
		err = s.complete(w, r, now)
	}
	if err != nil {
		status, body := described(err)
		send(w, status, body)
	}
}

func send(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // a client that is gone needs no answer
}

// mostBody bounds a request in bytes.
const mostBody = 16 << 20

// parse reads a request and the tokens of its prompt.
func (s *Server) parse(r *http.Request, crew *Crew) (c completion, tokens []int, err error) {
	c.Most = 16
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, mostBody))
	if err = cmp.Or(err, readJSON(body, &c, onlyRequests)); err != nil {
		return c, nil, &Problem{http.StatusBadRequest, err.Error()}
	}
	list, _ := c.Prompt.([]any)
	for i, x := range list {
		token, number := x.(float64)
		if !number || token != math.Trunc(token) || token < 0 || token >= float64(crew.Vocabulary) {
			return c, nil, &Problem{http.StatusBadRequest,
				fmt.Sprintf("prompt[%d] is no token of the vocabulary of %d", i, crew.Vocabulary)}
		}
		tokens = append(tokens, int(token))
	}
	switch {
	case c.Model != s.model:
		err = &Problem{http.StatusNotFound, fmt.Sprintf("there is no model %q (there is %q)", c.Model, s.model)}
	case len(tokens) == 0:
		err = &Problem{http.StatusBadRequest,
			"prompt is no list of token ids, or is empty (for text there is no tokenizer)"}
	case c.Most < 1:
		err = &Problem{http.StatusBadRequest, fmt.Sprintf("max_tokens is %d (at least 1 is made)", c.Most)}
	case len(tokens) >= crew.Room:
		err = &Problem{http.StatusRequestEntityTooLarge, fmt.Sprintf("prompt has %d tokens, and a sequence has room "+
			"for %d with its answer", len(tokens), crew.Room)}
	}
	return c, tokens, err
}

// complete answers a request. An error that it returns is the answer; a later one is the last event of the stream.
func (s *Server) complete(w http.ResponseWriter, r *http.Request, now *session) error {
	c, prompt, err := s.parse(r, now.Crew)
	if err != nil {
		return err
	}
	q, err := now.Submit(r.Context(), prompt, c.Most) // given up when this function returns
	if err != nil {
		return err
	}
	id, created := "cmpl-"+rand.Text(), time.Now().Unix()
	// reply is an answer, or a part of it, as OpenAI's but for its tokens. A text would take a tokenizer: it is empty.
	reply := func(tokens []int, finish *string, usage any) any {
		choice := map[string]any{"index": 0, "text": "", "token_ids": tokens, "logprobs": nil, "finish_reason": finish}
		return map[string]any{"id": id, "object": "text_completion", "created": created, "model": s.model,
			"choices": []any{choice}, "usage": usage}
	}
	n, rest := 0, []int{} // what was not streamed
	for token := range q.Tokens {
		if n++; !c.Stream {
			rest = append(rest, token)
		} else if event(w, reply([]int{token}, nil, nil)) != nil {
			return nil // the client has gone
		}
	}
	if q.Err != nil && (!c.Stream || n == 0) {
		return q.Err
	}
	last := reply(rest, &q.Finish, map[string]int{"prompt_tokens": len(prompt), "completion_tokens": n,
		"total_tokens": len(prompt) + n})
	if !c.Stream {
		send(w, http.StatusOK, last)
		return nil
	}
	if q.Err != nil {
		_, last = described(q.Err)
	}
	_ = event(w, last)
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
	return nil
}

// event writes one event of a stream.
func event(w http.ResponseWriter, x any) error {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	_ = out.SetWriteDeadline(time.Now().Add(10 * time.Second)) // so that a client that does not read is given up
	b, err := json.Marshal(x)
	if err == nil {
		_, err = fmt.Fprintf(w, "data: %s\n\n", b)
	}
	return cmp.Or(err, out.Flush())
}
