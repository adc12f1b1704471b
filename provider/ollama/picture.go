package ollama

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"orebot/core/artifact"
	"orebot/core/ledger"
	"orebot/core/observe"
)

// maxPictures is how many bytes of pictures one call carries. Beyond it, the oldest are left out.
const maxPictures = 64 << 20

var (
	errNoBlobs = errors.New("this provider reads no blobs")
	errTooBig  = fmt.Errorf("the pictures of one call may have %d MiB", maxPictures>>20)
	errHollow  = errors.New("it holds nothing")
)

// isPicture reports whether a URL is of a kind that can be sent. Others would have to be fetched, which a provider doesn't do.
func isPicture(url string) bool {
	return strings.HasPrefix(url, "data:") || strings.HasPrefix(url, "blob:")
}

// anyPicture stands for the pictures of a conversation before they are read.
func anyPicture(url string) []byte {
	if isPicture(url) {
		return []byte{0}
	}
	return nil
}

// see returns a picture of the call that could be read.
func (c *call) see(url string) []byte { return c.pictures[url] }

// pictures reads those of a conversation, from the newest. One that can't be read is left out: the rest of the conversation is still
// worth an answer.
func (p *Provider) pictures(ctx context.Context, turns []ledger.Turn) map[string][]byte {
	out, room := map[string][]byte{}, maxPictures
	for _, t := range slices.Backward(turns) {
		for _, a := range slices.Backward(t.Artifacts) {
			img, ok := a.(artifact.Image)
			if !ok || !isPicture(img.URL) || out[img.URL] != nil {
				continue
			}
			data, err := p.picture(ctx, img.URL, room)
			if err != nil {
				p.log.WarnContext(ctx, "image left out", observe.KeyImage, imageName(img.URL), observe.KeyError, err)
				continue
			}
			out[img.URL] = data
			room -= len(data)
		}
	}
	return out
}

// picture reads one, if it has at most so many bytes.
func (p *Provider) picture(ctx context.Context, url string, room int) ([]byte, error) {
	if strings.HasPrefix(url, "data:") {
		return checked(dataURL(url), room)
	}
	if p.cfg.Blobs == nil {
		return nil, errNoBlobs
	}
	r, err := p.cfg.Blobs.Open(ctx, url)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, int64(room)+1))
	if err != nil {
		return nil, err
	}
	return checked(data, room)
}

func checked(data []byte, room int) ([]byte, error) {
	switch {
	case len(data) == 0:
		return nil, errHollow
	case len(data) > room:
		return nil, errTooBig
	}
	return data, nil
}

// imageName names a picture in the log: never a data: URL's content.
func imageName(url string) string {
	if strings.HasPrefix(url, "blob:") && len(url) < 100 {
		return url
	}
	scheme, _, _ := strings.Cut(url, ",")
	return scheme[:min(len(scheme), 40)]
}

// dataURL returns the bytes of a base64 data: URL, nil for what isn't one.
func dataURL(u string) []byte {
	head, body, ok := strings.Cut(u, ",")
	if !ok || !strings.HasPrefix(head, "data:") || !strings.HasSuffix(head, ";base64") {
		return nil
	}
	data, err := base64.StdEncoding.DecodeString(body)
	if err != nil {
		return nil
	}
	return data
}

// Vision reports whether a model sees images, as far as its server tells: one of which nothing is known is tried. Where it doesn't,
// others are the installed ones that do. What was learned within the last ten minutes is believed.
func (p *Provider) Vision(ctx context.Context, model string) (sees bool, others []string, err error) {
	err = p.overHosts(ctx, model, false, func(h *host) error {
		k, ok := h.recall(model)
		if !ok || k.info.Name == "" && !k.traits.noImages {
			var err error
			if k, err = p.lookUp(ctx, h, model); err != nil {
				return err
			}
		}
		sees = !k.traits.noImages
		return nil
	})
	if err != nil || sees {
		return sees, nil, err
	}
	all, err := p.Models(ctx)
	for _, m := range all {
		if m.Can("vision") {
			others = append(others, strings.TrimSuffix(m.Name, ":latest"))
		}
	}
	return false, others, err
}
