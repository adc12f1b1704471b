package session_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orebot/core/session"
	"orebot/core/session/storetest"
)

// A link whose code is used is made, whatever is done to its message while the conversation that it joins is busy: nobody reads along there
// of whom it wasn't told.
func TestNothingTakesAUsedCodeBack(t *testing.T) {
	for name, meddle := range map[string]func(link session.Inbound) session.Inbound{
		"stop":   func(session.Inbound) session.Inbound { return msg(tg, "telegram:8", "/stop") },
		"delete": deletion,
		"edit":   func(link session.Inbound) session.Inbound { return edit(link, "/status") },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, mem *storetest.Memory) {
				b := start(t, mem, echo(10*time.Second), linking(mem, "dm"))
				code := b.code(dm)
				b.speak(dm, "takes long")
				link := b.speak(tg, "/link "+code)
				b.speak(tg, "", func(in *session.Inbound) { *in = meddle(link) })
				time.Sleep(time.Minute)
				synctest.Wait()
				b.ended(link, session.EndNoticed)
				b.speak(tg, "next")
				time.Sleep(time.Minute)
				synctest.Wait()
				slack := b.shown(dm)
				if told := slack[len(slack)-3]; !strings.HasPrefix(told, "- Linked: ") {
					t.Errorf("Slack is shown %q", slack)
				}
				equal(t, "Slack's end", slack[len(slack)-2:], []string{"Annie: next", "re: next"})
				b.stopLife()
			})
		})
	}
}

// Who shuts the bot out of one place stops what was asked there; what was asked at the other is answered.
func TestAStopOfOnePlaceAlone(t *testing.T) {
	for asked, end := range map[session.Address]session.End{dm: session.EndAnswered, tg: session.EndWithdrawn} {
		bubble(t, func(t *testing.T, mem *storetest.Memory) {
			b := start(t, mem, echo(10*time.Second), linking(mem, "dm"))
			b.speak(tg, "/link "+b.code(dm))
			question := b.speak(asked, "takes long")
			b.speak(tg, "", func(in *session.Inbound) {
				in.Signal, in.Action, in.Here = session.SignalButton, "stop", true
			})
			time.Sleep(time.Minute)
			synctest.Wait()
			b.ended(question, end)
			if got := b.last(dm); asked == dm && got != "re: takes long" {
				t.Errorf("the other place is shown %q", got)
			}
			b.stopLife()
		})
	}
}

// Who deletes the conversation that places share deletes nothing of what one of them had before: a message of that can still be taken back.
func TestADeletionLeavesWhatALinkedPlaceHadBefore(t *testing.T) {
	for by, prefix := range map[session.Address]string{dm: "!", tg: "/"} {
		bubble(t, func(t *testing.T, mem *storetest.Memory) {
			b := start(t, mem, echo(0), linking(mem, "dm"))
			kept, secret := b.speak(tg, "kept"), b.speak(tg, "secret")
			b.speak(dm, "shared")
			b.speak(tg, "/link "+b.code(dm))
			ours := b.speak(tg, "ours")
			b.speak(by, prefix+"forget")
			b.speak(by, prefix+"forget yes")
			time.Sleep(time.Minute)
			synctest.Wait()
			if e := b.entry(ours); !e.Deleted || e.Inbound.Text != "" {
				t.Errorf("%s: of what was deleted, %q is left", by, e.Inbound.Text)
			}
			if e := b.entry(kept); e.Deleted || e.Inbound.Text != "kept" {
				t.Errorf("%s: of what was not deleted, %q is left", by, e.Inbound.Text)
			}
			b.accept(deletion(secret))
			b.speak(tg, "/unlink")
			if got := b.log(tg); got[0] != "user kept" || got[2] != "user " {
				t.Errorf("%s: Telegram's own log is %q", by, got)
			}
			b.stopLife()
		})
	}
}

// A question that comes too late is shown at the other place as its author's, as any other is.
func TestALateQuestionIsAttributed(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), linking(mem, "dm"))
		b.speak(dm, "hi")
		b.speak(tg, "/link "+b.code(dm))
		b.speak(tg, "still there?", func(in *session.Inbound) { in.At = in.At.Add(-19 * time.Hour) })
		if got := b.last(dm); got != "Annie: still there?" {
			t.Errorf("Slack is shown %q", got)
		}
		b.stopLife()
	})
}

// Who comes back and ends the link with their first words is served again.
func TestUnlinkByWhoWasGone(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), linking(mem, "dm"))
		b.speak(dm, "hi")
		b.speak(tg, "/link "+b.code(dm))
		st := at(t, mem, tg)
		st.Binding.Gone = true
		gone := session.Batch{ID: session.NewBatchID(), Bindings: []session.BindingWrite{{Address: tg, Rev: st.BindingRev, Binding: st.Binding}}}
		if _, err := session.CommitWait(t.Context(), mem, gone); err != nil {
			t.Fatal(err)
		}
		b.speak(tg, "/unlink")
		if at(t, mem, tg).Binding.Gone {
			t.Error("nothing is delivered there any more")
		}
		b.stopLife()
	})
}

// Where one of three places leaves, the others aren't told that nobody reads along any more.
func TestOneOfThreePlacesLeaves(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		const third = session.Address("telegram:9")
		b := start(t, mem, echo(0), linking(mem, "dm"))
		b.speak(dm, "hi")
		b.speak(tg, "/link "+b.code(dm))
		b.speak(third, "/link "+b.code(dm))
		b.speak(tg, "/unlink")
		for _, a := range []session.Address{dm, third} {
			if got := b.last(a); got != "- On Telegram: This chat has left the conversation; others still share it." {
				t.Errorf("%s is shown %q", a, got)
			}
		}
		b.speak(dm, "!unlink")
		if got := b.last(third); got != "- On Slack: The link between these places has ended." {
			t.Errorf("the last one is shown %q", got)
		}
		b.stopLife()
	})
}

// While a conversation of several people is busy, a private chat that is to join it isn't there yet: it stops nothing of others' and is shown
// nothing.
func TestWhoJoinsABusyConversationWaits(t *testing.T) {
	place := func(in *session.Inbound) {
		in.Place, in.Call, in.Author.ID = "telegram:-100", session.CallCommand, "telegram:5"
	}
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(30*time.Second), linking(mem, "threads"))
		b.speak(group, "/link", func(in *session.Inbound) { place(in); in.Author.Admin = true })
		code := codeIn.FindString(b.last(group))
		asked := b.speak(group, "their secret", place)
		b.speak(dm, "!link "+code)
		stop, export := b.speak(dm, "!stop"), b.speak(dm, "!export")
		if e := b.entry(export); e.State != session.EntryOpen {
			t.Errorf("before it has joined, the chat is shown %q", b.shown(dm))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		b.ended(asked, session.EndAnswered)
		b.ended(stop, session.EndNoticed)
		shown := b.shown(dm)
		refused := func(s string) bool { return strings.HasPrefix(s, "- Only who began") }
		if !strings.HasPrefix(shown[0], "- Linked") || !slices.ContainsFunc(shown, refused) {
			t.Errorf("the chat is shown %q", shown)
		}
		b.stopLife()
	})
}

// Whoever deletes a linked conversation from the place that has joined it keeps their own: what was still to be shown of that is shown.
func TestForgetWhereOneHasJoinedKeepsWhatIsDue(t *testing.T) {
	bubble(t, func(t *testing.T, mem *storetest.Memory) {
		b := start(t, mem, echo(0), linking(mem, "dm"))
		b.speak(tg, "mine")
		b.speak(dm, "before")
		b.speak(tg, "/link "+b.code(dm))
		b.speak(tg, "shared")
		b.speak(tg, "/forget")
		b.speak(tg, "/forget yes")
		equal(t, "Telegram", b.shown(tg), []string{"re: mine", "- Forgotten."})
		b.speak(tg, "/unlink")
		b.speak(tg, "/forget")
		b.speak(tg, "/forget yes")
		equal(t, "Telegram, once its own is deleted too", b.shown(tg), []string{"- Forgotten.", "- The link has ended: this chat is by itself again.", "- Forgotten."})
		b.stopLife()
	})
}
