"""How a measurement ends: well, over a limit, because it could not be made, or by a signal."""

import signal
import sys
import traceback


def end_by_signals():
    """What ends a program leaves through its clean-up: daemons take SIGHUP as a reload, and nobody else would end them."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        # Who started it with nohup wants it to go on.
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, end)


def end(number, _):
    # A second one would end the clean-up.
    for each in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)


def code_of(main):
    """What main returns; 2 if something could not be measured, which is then said."""
    end_by_signals()
    try:
        return main()
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except Exception:  # pylint: disable=broad-exception-caught
        traceback.print_exc()
        return 2
