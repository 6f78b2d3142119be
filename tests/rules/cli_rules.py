#!/usr/bin/env python3
"""`fourhanded rules …` as scripts drive it: lines in, lines out, exit status.

usage: cli_rules.py FOURHANDED [CASES…]

With case files, `legal` and `play` are run over all their lines as well, and `check`.
"""
import gzip
import os
import pathlib
import subprocess
import sys
import unittest

FOURHANDED = sys.argv[1]
CASES = [pathlib.Path(p) for p in sys.argv[2:]]

VERNEY = ("verney x,x,x,yR,yN,yB,yK,yQ,yB,yN,yR,x,x,x/x,x,x,yP,yP,yP,yP,yP,yP,yP,yP,x,x,x/"
          "x,x,x,8,x,x,x/rR,rP,10,bP,bR/rN,rP,10,bP,bN/rB,rP,10,bP,bB/rK,rP,10,bP,bQ/"
          "rQ,rP,10,bP,bK/rB,rP,10,bP,bB/rN,rP,10,bP,bN/rR,rP,10,bP,bR/x,x,x,8,x,x,x/"
          "x,x,x,wP,wP,wP,wP,wP,wP,wP,wP,x,x,x/x,x,x,wR,wN,wB,wQ,wK,wB,wN,wR,x,x,x "
          "w aaaa - - 0 0")
KINGS = ("verney x,x,x,3,yK,4,x,x,x/x,x,x,8,x,x,x/x,x,x,8,x,x,x/14/14/14/rK,13/13,bK/14/14/14/"
         "x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,4,wK,3,x,x,x w aaaa - - 0 0")
VERNEY_MOVES = "d2d3 e1d3 e1f3 e2e3 f2f3 g2g3 h2h3 i2i3 j1i3 j1k3 j2j3 k2k3"
FEN4_KINGS = ("R-0,0,0,0-0,0,0,0-0,0,0,0-0,0,0,0-0-x,x,x,3,yK,4,x,x,x/x,x,x,8,x,x,x/x,x,x,8,x,x,x/"
              "14/14/14/bK,13/13,gK/14/14/14/x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,4,rK,3,x,x,x")


def rules(*args, text=""):
    p = subprocess.run([FOURHANDED, "rules", *args], input=text.encode(), capture_output=True,
                       timeout=120)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


class Lines(unittest.TestCase):
    def tool(self, *args, text, out, status=0, err=""):
        got = rules(*args, text=text)
        self.assertEqual(got, (status, out, err))

    def test_legal_lists_moves_sorted_by_byte(self):
        self.tool("legal", text=VERNEY + "\n", out=VERNEY_MOVES + "\n")

    def test_legal_reads_a_last_line_without_its_end_and_crlf(self):
        self.tool("legal", text=VERNEY, out=VERNEY_MOVES + "\n")
        self.tool("legal", text=VERNEY + "\r\n", out=VERNEY_MOVES + "\n")

    def test_legal_answers_every_line(self):
        status, out, err = rules("legal", text=f"{VERNEY}\n\nnonsense\n{VERNEY} \n{VERNEY}\n")
        lines = out.split("\n")
        self.assertEqual((status, err, len(lines)), (1, "", 6))
        self.assertEqual(lines[0], VERNEY_MOVES)
        self.assertEqual(lines[1], "! there is no position")
        self.assertEqual(lines[2],
                         '! field 1 (game): "nonsense" is none of verney, fortress and teams')
        self.assertEqual(lines[3:5], [VERNEY_MOVES] * 2)

    def test_legal_of_a_finished_game_is_an_empty_line(self):
        self.tool("legal", text=KINGS.replace(" w aaaa", " w axax") + "\n", out="\n")

    def test_legal_names_the_fault_of_a_position(self):
        status, out, _ = rules("legal", text=VERNEY.replace("yB,yK", "yB,zK") + "\n")
        self.assertEqual(status, 1)
        self.assertTrue(out.startswith("! field 2 (board), rank 14, token 7: "), out)
        self.assertIn("zK", out)

    def test_play_gives_the_position_after(self):
        after = VERNEY.replace("wR,wN,wB,wQ,wK", "wR,1,wB,wQ,wK").replace(
            "x,x,x,8,x,x,x/x,x,x,wP", "x,x,x,2,wN,5,x,x,x/x,x,x,wP").replace(
            " w aaaa - - 0 0", " r aaaa - - 1 1")
        for move in "e1f3", "Nf3", "e1-f3", "Ne1f3+":
            self.tool("play", text=f"{VERNEY} | {move}\n", out=after + "\n")

    def test_play_says_why_not(self):
        self.tool("play", text=f"{VERNEY} | e2e4\n", status=1,
                  out="! the pawn on e2 moves one square only\n")
        self.tool("play", text=f"{VERNEY} | d3\n{VERNEY}\n", status=1,
                  out=rules("play", text=f"{VERNEY} | d2d3\n")[1] +
                  "! there is no move; a line is POSITION | MOVE\n")
        self.tool("play", text=f"{VERNEY} | resign\n", status=1,
                  out='! who leaves? A colour is needed, as in "resign w"\n')

    def test_play_takes_a_seat_out(self):
        self.tool("play", text=f"{KINGS} | resign r\n",
                  out=KINGS.replace("w aaaa", "w axaa") + "\n")
        self.tool("play", text=KINGS.replace("w aaaa", "w axaa") + " | resign b\n", out="team0\n")
        self.tool("play", text=f"{KINGS} | forfeit b\n", status=1,
                  out="! a forfeit comes on the seat's own turn\n")

    def test_play_obeys_house_rules(self):
        # Red is mated by the rooks; its pawn may be taken only under inert=capturable.
        board = ("verney x,x,x,3,yK,4,x,x,x/x,x,x,8,x,x,x/x,x,x,8,x,x,x/14/14/14/3,wN,10/13,bK/"
                 "4,rP,9/10,wR,3/rK,8,wR,4/x,x,x,8,x,x,x/x,x,x,8,x,x,x/x,x,x,4,wK,3,x,x,x")
        text = f"{board} w amaa - - 7 9 | d8e6\n"
        status, out, _ = rules("play", text=text)
        self.assertEqual(status, 1)
        self.assertIn("mated army", out)
        after = board.replace("3,wN,10", "14").replace("4,rP,9", "4,wN,9")
        self.tool("play", "--variant", "verney inert=capturable", text=text,
                  out=f"{after} y amaa - - 0 10\n")

    def test_a_program_that_waits_for_each_answer_gets_it(self):
        p = subprocess.Popen([FOURHANDED, "rules", "legal"], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE)
        for _ in range(3):
            p.stdin.write(VERNEY.encode() + b"\n")
            p.stdin.flush()
            self.assertEqual(p.stdout.readline().decode(), VERNEY_MOVES + "\n")
        p.stdin.close()
        self.assertEqual(p.wait(timeout=60), 0)
        p.stdout.close()

    def test_a_line_without_end_is_refused_and_the_next_is_read(self):
        status, out, _ = rules("legal", text="x" * (3 << 20) + "\n" + VERNEY + "\n")
        self.assertEqual(status, 1)
        self.assertEqual(out, "! the line is longer than 1048576 bytes\n" + VERNEY_MOVES + "\n")

    def test_notation_gives_three_ways(self):
        self.tool("notation", text=f"{VERNEY} | Nf3\n",
                  out="e1f3 | Nf3 | knight from e1 to f3\n")
        self.tool("notation", text=f"{VERNEY} | Qz9\n", status=1,
                  out="! not-a-move: it cannot be read as a move: from character 2 on it fits "
                      "nothing; write the two squares, as in e2e3\n")

    def test_validate_knows_sense_from_form(self):
        status, out, _ = rules("validate", text=VERNEY + "\n")
        self.assertEqual(status, 0)
        self.assertRegex(out, "^ok [0-9a-f]{16}\n$")
        status, out, _ = rules("validate", text=VERNEY.replace("x,x,x,8,x,x,x/rR", "x,x,x,wQ,7,x,x,x/rR", 1)
                               .replace("w aaaa", "r aaaa").replace("0 0", "5 1") + "\n")
        self.assertEqual(status, 1)
        self.assertTrue(out.startswith("! "), out)


class Perft(unittest.TestCase):
    def count(self, *args):
        status, out, err = rules("perft", *args)
        self.assertEqual((status, err), (0, ""))
        return out.split("\n")

    def test_counts_of_the_three_games(self):
        for game, depth, nodes in (("verney", "4", "20736"), ("fortress", "3", "35475"),
                                   ("teams", "4", "152050"), ("verney queens=left", "4", "20162")):
            self.assertEqual(self.count(game, depth)[0], nodes)

    def test_each_leaf_made_counts_the_same(self):
        self.assertEqual(self.count("fortress", "3", "--each")[0], "35475")

    def test_divide_lists_each_first_move_sorted(self):
        lines = self.count("--divide", "verney", "3")
        moves = [line.split() for line in lines[:12]]
        self.assertEqual([m for m, _ in moves], VERNEY_MOVES.split())
        self.assertEqual(sum(int(n) for _, n in moves), 1728)
        self.assertEqual(lines[12], "1728")

    def test_a_position_may_be_quoted_or_not(self):
        self.assertEqual(self.count("verney", "1", VERNEY)[0], "12")
        self.assertEqual(self.count("verney", "1", *VERNEY.split())[0], "12")

    def test_wrong_calls(self):
        for args, words in ((["checkers", "3"], "checkers"), (["verney", "x"], '"x" is no depth'),
                            (["verney"], "it needs GAME DEPTH"), (["verney", "1", "x"], "field"),
                            (["--divide", "verney", "0"], "from 1 to 30")):
            status, out, err = rules("perft", *args)
            self.assertEqual((status, out), (2, ""))
            self.assertTrue(err.startswith("fourhanded: rules perft: ") and words in err, err)
            self.assertEqual(err.count("\n"), 1)


class Show(unittest.TestCase):
    def test_board_and_legend(self):
        status, out, _ = rules("show", text=VERNEY + "\n")
        self.assertEqual(status, 0)
        self.assertIn("\n 2           wP wP wP wP wP wP wP wP\n", out)
        self.assertTrue(out.endswith("White (South) to move.\n\n"), out)

    def test_no_legend_from_another_side_with_the_move_marked(self):
        status, out, _ = rules("show", "--no-legend", "--side", "north", text=f"{VERNEY} | Nf3\n")
        self.assertEqual(status, 0)
        self.assertIn("[wN]", out)
        self.assertTrue(out.endswith("\n     n  m  l  k  j  i  h  g  f  e  d  c  b  a\n\n"))

    def test_spoken_keeps_to_the_width(self):
        status, out, _ = rules("show", "--spoken", "--width=40", text=f"{VERNEY} | Nf3\n")
        self.assertEqual(status, 0)
        self.assertTrue(out.startswith("White: knight from e1 to f3.\nRed (West) to move.\n"))
        self.assertLessEqual(max(map(len, out.split("\n"))), 40)

    def test_wrong_calls(self):
        for args in (["--side", "up"], ["--width", "x"], ["--width"], ["--narrow=1"], ["--tall"],
                     ["more"], ["--narrow", "--narrow"]):
            status, out, err = rules("show", *args)
            self.assertEqual((status, out, err.count("\n")), (2, "", 1), args)


class Check(unittest.TestCase):
    AFTER = VERNEY.replace("wP,wP,wP,wP,wP,wP,wP,wP", "1,wP,wP,wP,wP,wP,wP,wP").replace(
        "x,x,x,8,x,x,x/x,x,x,1", "x,x,x,wP,7,x,x,x/x,x,x,1").replace("w aaaa - - 0 0",
                                                                  "r aaaa - - 1 1")

    def test_agreement(self):
        text = f"# a remark\n\n{VERNEY} | {VERNEY_MOVES} | d2d3 -> {self.AFTER}\n"
        self.assertEqual(rules("check", text=text), (0, "1 cases, 1 agree, 0 disagree\n", ""))

    def test_disagreements_are_told_with_their_line(self):
        text = (f"{VERNEY} | {VERNEY_MOVES.replace('e1f3 ', '')} z9z9 | d2d3 -> {self.AFTER}\n"
                f"{VERNEY} | {VERNEY_MOVES} | d2d3 -> team0\n"
                f"{VERNEY} | {VERNEY_MOVES} | d2d4 -> {self.AFTER}\n"
                f"{VERNEY}\n")
        status, out, _ = rules("check", text=text)
        lines = out.split("\n")
        self.assertEqual(status, 1)
        self.assertEqual(lines[0], "line 1: moves: the case has also z9z9 the case lacks e1f3")
        self.assertEqual(lines[1], f"line 2: d2d3: gives {self.AFTER}, the case has team0")
        self.assertEqual(lines[2], "line 3: d2d4: the pawn on d2 moves one square only")
        self.assertTrue(lines[3].startswith("line 4: no case"), lines[3])
        self.assertEqual(lines[4], "4 cases, 0 agree, 4 disagree")


class Convert(unittest.TestCase):
    def convert(self, source, target, text, *more, status=0):
        got = rules("convert", "--from", source, "--to", target, *more, text=text)
        self.assertEqual(got[0], status, got)
        return got[1]

    def test_native_to_fen4_and_back(self):
        self.assertEqual(self.convert("native", "fen4", KINGS + "\n"), FEN4_KINGS + "\n")
        self.assertEqual(self.convert("fen4", "native", FEN4_KINGS + "\n", "--variant", "verney"),
                         KINGS + "\n")
        self.assertTrue(self.convert("fen4", "native", FEN4_KINGS + "\n").startswith("teams "))
        self.assertIn("-6,yK,7/14/14/", self.convert("native", "fen4", KINGS + "\n",
                                                         "--corners", "empties"))

    def test_a_fen4_over_several_lines(self):
        text = FEN4_KINGS.replace("-x,", "-\nx,").replace("/", "/\n")
        self.assertEqual(self.convert("fen4", "native", text + "\n" + FEN4_KINGS + "\n",
                                      "--variant", "verney"), (KINGS + "\n") * 2)

    def test_a_game_goes_to_pgn4_and_back(self):
        game = f"{VERNEY} | e2e3 resign r k13k12 resign y -> draw agreement"
        pgn4 = self.convert("native", "pgn4", game + "\n")
        self.assertIn('\n[Result "1/2-1/2"]\n[Termination "Draw agreed. 1/2-1/2"]\n', pgn4)
        self.assertIn("1. e2-e3 .. R .. k13-k12 {[%leave North resign]}\n", pgn4)
        self.assertEqual(self.convert("pgn4", "native", pgn4), game + "\n")
        self.assertEqual(self.convert("pgn4", "pgn4", pgn4), pgn4)

    def test_pgn4_keeps_foreign_tags_and_comments(self):
        pgn4 = ('[Red "anna"]\n[Variant "Teams"]\n[RuleVariants "EnPassant"]\n\n'
                "1. h2-h4 { why not } .. R\n")
        out = self.convert("pgn4", "pgn4", pgn4)
        self.assertIn('[Red "anna"]\n', out)
        self.assertIn("\n1. h2-h4 { why not } .. R\n", out)
        self.assertTrue(self.convert("pgn4", "native", pgn4, "--final").startswith("teams x,"))

    def test_faults_are_named(self):
        self.assertEqual(self.convert("native", "fen4", "nonsense\n", status=1)[:2], "! ")
        self.assertEqual(self.convert("native", "fen4", f"{VERNEY} | e2e4\n", status=1),
                         "! move 1, e2e4: the pawn on e2 moves one square only\n")
        self.assertIn("! line 1, column 1, turn:", self.convert("fen4", "native", "x\n", status=1))
        status, out, err = rules("convert", "--from=pgn4", "--to=native",
                                 text='[Variant "Teams"]\n\n1. e2-e5\n')
        self.assertEqual((status, out), (1, ""))
        self.assertTrue(err.startswith("fourhanded: standard input: line 3, column 4: "), err)

    def test_wrong_calls(self):
        for args in ([], ["--from", "native"], ["--from", "x", "--to", "fen4"],
                     ["--from", "native", "--to", "fen4", "--corners", "round"]):
            status, out, err = rules("convert", *args)
            self.assertEqual((status, out, err.count("\n")), (2, "", 1), args)


class Help(unittest.TestCase):
    def test_every_tool_has_help(self):
        status, out, _ = rules("--help")
        self.assertEqual(status, 0)
        for tool in "legal play notation validate perft show check convert".split():
            self.assertIn(f"\n  {tool} ", out)
            status, text, err = rules(tool, "--help")
            self.assertEqual((status, err), (0, ""))
            self.assertTrue(text.startswith(f"usage: fourhanded rules {tool} "), text)

    def test_no_tool_and_an_unknown_one(self):
        self.assertEqual(rules()[0], 2)
        status, _, err = rules("cook")
        self.assertEqual((status, err), (2, 'fourhanded: rules: there is no tool "cook"; '
                                            'fourhanded rules --help lists them\n'))

    def test_a_full_disk_is_told(self):
        if not os.path.exists("/dev/full"):
            self.fail("/dev/full is needed")
        with open("/dev/full", "wb") as full:
            p = subprocess.run([FOURHANDED, "rules", "legal"], input=VERNEY.encode(), stdout=full,
                               stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(p.returncode, 1)
        self.assertIn(b"standard output: ", p.stderr)


class Cases(unittest.TestCase):
    """Every worked case, by all three tools."""

    def test_legal_play_and_check_agree_with_every_case(self):
        self.assertTrue(CASES)
        for path in CASES:
            with self.subTest(path=path.name):
                text = gzip.decompress(path.read_bytes()).decode()
                columns = [line.split(" | ") for line in text.splitlines()]
                self.assertTrue(columns)
                legal = rules("legal", text="".join(c[0] + "\n" for c in columns))
                self.assertEqual(legal, (0, "".join(c[1] + "\n" for c in columns), ""))
                moves = [c[2].split(" -> ") for c in columns]
                play = rules("play", text="".join(f"{c[0]} | {m[0]}\n"
                                                  for c, m in zip(columns, moves)))
                self.assertEqual(play, (0, "".join(m[1] + "\n" for m in moves), ""))
                n = len(columns)
                self.assertEqual(rules("check", text=text),
                                 (0, f"{n} cases, {n} agree, 0 disagree\n", ""))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=1)
