/*
 * main/cmd_rules.h - `fourhanded rules …`: the rules library from the shell.
 *
 * Every tool but perft reads standard input line by line and answers each line as soon as it is
 * there, one line for one line where not said otherwise; an answer that begins with "! " says why
 * a line has none.  fourhanded-rules(1) and `fourhanded rules TOOL --help` tell the rest.
 *
 * Exit status: CLI_OK when every line had its answer; CLI_FAILED when one had none, a case
 * disagreed, or reading or writing failed; CLI_USAGE.
 * Threads: the main thread.
 */
#ifndef FH_MAIN_CMD_RULES_H
#define FH_MAIN_CMD_RULES_H

/* argv[0] is "rules", argv[1] the tool. */
int cmd_rules(int argc, char **argv);

#endif
