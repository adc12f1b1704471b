package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"orebot/internal/ops"
)

func newAccess(g *globals, std stdio) *cobra.Command {
	f := &adminFlags{g: g}
	cmd := &cobra.Command{
		Use:   "access",
		Short: "Say who may talk to the bot",
		Long: `Say who may talk to the bot, let people and places in, and turn them away again. Strangers on Telegram get a code, which
approve takes; allow and revoke take an id: telegram:8246 (a person), telegram:-100123 (a group), slack:U0123, slack:C0123.

What is decided holds at once. It also works while the daemon is stopped. Whom the configuration lists can only be taken out there.`,
		Example: "  orebot access\n  orebot access approve 7Q4K\n  orebot access allow telegram:-100123",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return listAccess(cmd.Context(), f, std.out) },
	}
	f.add(cmd)
	list := &cobra.Command{
		Use: "list", Short: "Show who waits, who may talk to the bot, and who may not any more", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return listAccess(cmd.Context(), f, std.out) },
	}
	cmd.AddCommand(list,
		changeAccess(f, std, "approve CODE", "Let the person in who got this code, and tell them", "code", "may talk to the bot now", (*ops.Access).Approve),
		changeAccess(f, std, "allow ADDR", "Let a person or a place in", "id", "may talk to the bot now", (*ops.Access).Allow),
		changeAccess(f, std, "revoke ADDR", "Turn a person or a place away, and end what is being answered there", "id",
			"may not talk to the bot any more", (*ops.Access).Revoke))
	return cmd
}

// change is one of the operations on a person or a place.
type change func(*ops.Access, context.Context, ops.Name) (ops.Admitted, error)

func changeAccess(f *adminFlags, std stdio, use, short, what, done string, do change) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: oneArg(what)}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var who ops.Admitted
		err := f.onAccess(cmd.Context(), func(c *ops.Client) error {
			return c.Call(cmd.Context(), "/v1/access/"+cmd.Name(), ops.Name{Name: args[0]}, &who)
		}, func(a *ops.Access) (err error) {
			who, err = do(a, cmd.Context(), ops.Name{Name: args[0]})
			return err
		})
		switch {
		case err != nil:
			return err
		case f.json:
			return printJSON(std.out, who)
		}
		_, err = fmt.Fprintf(std.out, "%s %s\n", named(who.ID, who.Name, who.Handle), done)
		return err
	}
	return cmd
}

// onAccess asks the daemon, or where none runs opens its state.
func (f *adminFlags) onAccess(ctx context.Context, ask func(*ops.Client) error, open func(*ops.Access) error) error {
	c, cfg, err := f.connect(ctx)
	if err == nil {
		return ask(c)
	}
	store, err := openStopped(cfg, err)
	if err != nil {
		return err
	}
	err = open(stoppedDoors(store, cfg))
	if cerr := store.Close(); err == nil {
		err = cerr
	}
	return err
}

func listAccess(ctx context.Context, f *adminFlags, w io.Writer) error {
	var list ops.AccessList
	err := f.onAccess(ctx, func(c *ops.Client) error { return c.Call(ctx, "/v1/access", nil, &list) }, func(a *ops.Access) (err error) {
		list, err = a.List(ctx)
		return err
	})
	switch {
	case err != nil:
		return err
	case f.json:
		return printJSON(w, list)
	}
	return table(w, accessRows(list, time.Now()))
}

// accessRows are the lines of `access list`.
func accessRows(list ops.AccessList, now time.Time) [][]string {
	rows := [][]string{{"STATE", "ID", "NAME", "SINCE", ""}}
	for _, s := range list.Waiting {
		hint := "orebot access approve " + s.Code
		if s.Code == "" {
			hint = "code expired; orebot access allow " + s.ID
		}
		rows = append(rows, []string{"waits", s.ID, people(s.Name, s.Handle), ago(s.Since, now), hint})
	}
	for _, a := range list.Allowed {
		rows = append(rows, []string{"allowed", a.ID, people(a.Name, a.Handle), ago(a.Since, now), "by the " + a.By})
	}
	for _, a := range list.Revoked {
		rows = append(rows, []string{"revoked", a.ID, people(a.Name, a.Handle), ago(a.Since, now), "by the " + a.By})
	}
	if len(rows) == 1 {
		return [][]string{{"Nobody waits, and nobody is listed."}}
	}
	return rows
}

// people prints a name and an @name, as far as they are known.
func people(name, handle string) string {
	switch name = printable(name, 40); {
	case handle == "" && name == "":
		return "-"
	case handle == "":
		return name
	case name == "":
		return "@" + printable(handle, 40)
	}
	return name + " (@" + printable(handle, 40) + ")"
}

func named(id, name, handle string) string {
	if name == "" && handle == "" {
		return id
	}
	return people(name, handle) + ", " + id + ","
}
