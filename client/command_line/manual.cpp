#include "command_line/manual.hpp"

namespace client {
namespace {

constexpr ManualEntry all_commands[] = {
    {"tools", "the server's tools with their parameters"},
    {"call NAME [ARGUMENT...]", "calls a tool and prints its content; an argument is"},
    {"resources", "the server's resources and resource templates"},
    {"read URI", "prints a resource"},
    {"prompts", "the server's prompts with their arguments"},
    {"prompt NAME [key=text...]", "prints a prompt"},
    {"request METHOD [PARAMS]", "any request; prints the result as it came (PARAMS: JSON, or -)"},
    {"notify METHOD [PARAMS]", "any notification"},
    {"listen", "notifications, one JSON line each"},
    {"status", "the daemon's state"},
    {"jobs", "the calls that were detached"},
    {"wait JOB...", "waits for jobs and prints their results as call does"},
    {"answer JOB [ARGUMENT...]",
     "answers what a job asks; the arguments are those of call, without them it asks here"},
    {"cancel JOB", "cancels a job and prints its state"},
    {"forget JOB", "removes a job that has ended"},
    {"help", "this text"},
    {"version", "the version"},
};

constexpr ManualEntry call_arguments[] = {
    {"key=value",
     "made a number, a string or what else the tool's schema wants; a.b=value sets b "
     "in the object a; given several times it is an array"},
    {"key:=json", "any JSON value, as count:=3 or list:='[1,2]'"},
    {"key:@FILE", "a string: what stands in the file (- is stdin); key:=@FILE: as JSON"},
    {"'{...}'", "an object of arguments; what is given by key takes the place of its members"},
    {"-", "the same, from stdin"},
};

constexpr ManualEntry general_options[] = {
    {"-s, --socket PATH",
     "the daemon's socket; @NAME is an abstract one. Default: MCP_SOCKET_PATH, else the first there "
     "is of /tmp/mcp.sock, /run/mcp-bridged/mcp.sock"},
    {"--peer UID",
     "who else may serve a socket in a folder that others may write: the daemon's uid, or any. "
     "Without it only root, you and the folder's owner. Default: MCP_NC_PEER"},
    {"-w, --timeout TIME",
     "give up after that long (exit 124); for the relay: when nothing came for that long after "
     "stdin's end. 0 = never (default)"},
    {"--wait TIME", "wait so long for a socket that is not there yet"},
    {"-h, --help", "this text"},
    {"-V, --version", "the version"},
};

constexpr ManualEntry command_options[] = {
    {"--keep",
     "leave waiting notifications in the daemon; without it they are taken and printed on stderr. "
     "Always so for status and the lists"},
    {"--json", "print the raw result"},
    {"--names", "tools, prompts, resources, jobs: only the names (URIs, ids), one a line"},
    {"--save DIR", "call, read, prompt, wait: write images, audio and blobs to files there"},
    {"--raw",
     "call: send the arguments as they are written, text as strings: no schema is asked for"},
    {"--detach", "call: only print the id of a job that makes the call, and leave"},
    {"--detach-after TIME",
     "call: when there is no result after that long, print the job's id instead and exit 75"},
    {"--key KEY",
     "call: the same key with the same call is the same job: a step that is run twice acts once"},
    {"--any", "wait: until the first of them has ended or asks something"},
    {"--decline", "answer: refuse to answer"},
    {"--cancel", "answer: dismiss the question"},
    {"--for TIME", "listen: so long; 0 = only what is there now"},
    {"--count N", "listen: until N were printed"},
    {"--since SEQ",
     "listen: first those after that sequence number that the daemon still has; only looks: what it "
     "shows stays in the daemon for the next client"},
    {"--seq", "listen: print {\"seq\":N,\"message\":{...}}; only looks, as --since does"},
    {"--ready", "status: exit 4 while the upstream server cannot be reached"},
    {"--metrics", "status: the metrics as text"},
    {"--watch", "status: the whole screen, up to date; ^C ends it"},
};

constexpr ManualEntry exit_codes[] = {
    {"0", "ok"},
    {"1", "the tool or the server answered with an error"},
    {"2", "usage"},
    {"3", "the daemon cannot be reached, hung up, or is somebody whom --peer does not trust"},
    {"4", "the daemon cannot reach or use the upstream server"},
    {"75", "the call goes on, or its job waits for an answer"},
    {"124", "time is up"},
    {"130, 143", "interrupted (the request is cancelled; a job that is waited for is not)"},
};

}  // namespace

std::span<const ManualEntry> manual_commands() { return all_commands; }
std::span<const ManualEntry> manual_arguments() { return call_arguments; }
std::span<const ManualEntry> manual_general_options() { return general_options; }
std::span<const ManualEntry> manual_command_options() { return command_options; }
std::span<const ManualEntry> manual_exit_codes() { return exit_codes; }

}  // namespace client
