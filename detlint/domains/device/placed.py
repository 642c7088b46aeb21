"""Where what a site draws, or computes, lies: on the accelerator, on the host, or that isn't known.

What isn't known is the accelerator in a file that runs pass; elsewhere the caller decides.
"""

from __future__ import annotations

from itertools import takewhile

from detlint.catalog import Entry
from detlint.domains.device.callers import Callers
from detlint.domains.device.device import Devices
from detlint.domains.device.where import ACCELERATOR, HOST, LEFT, NOWHERE, OPEN, Where
from detlint.domains.matching.record import Match
from detlint.ir.places import Place
from detlint.model.meaning import Meaning
from detlint.model.module import Module
from detlint.model.places import call_at
from detlint.model.uses import Users


class Placed:
    """Asks the domain of devices."""

    def __init__(self, users: Users) -> None:
        self._users = users
        callers = Callers(users)
        self._devices, self._hosts = Devices(users, callers, ACCELERATOR), Devices(users, callers, LEFT)

    def where(self, module: Module, index: int, match: Match) -> Where:
        """Where that lies which an entry asks for of a call."""
        call = self._call(module, index)
        parameter = asked(match.entry)
        if call is None:
            return OPEN
        meaning, place = call
        places = self._users.resolver.catalog.places
        makes = match.name in places.asked + places.at_home + places.alike
        if parameter == "self":
            base = place.function.called_on(place.at)
            return self._devices.at(meaning, Place(place.function, base)) if base >= 0 else OPEN
        if parameter == "device" and makes:
            return self._devices.at(meaning, place)
        names = (name for name, _ in self._users.resolver.catalog.signatures.get(match.name, ()))
        signature = [*takewhile(lambda name: not name.startswith("*"), names)]  # the others only by name
        position = signature.index(parameter) if parameter in signature else -1
        told = place.function.call(place.at).argument(position, parameter)
        return self._devices.asked_at(meaning, Place(place.function, told)) if told >= 0 else NOWHERE

    def is_on_host(self, module: Module, index: int) -> bool:
        """Whether a call is handed a tensor that somebody has put on the CPU: it computes there."""
        call = self._call(module, index)
        if call is None:
            return False
        meaning, place = call
        given = [*place.function.call(place.at).values(), place.function.called_on(place.at)]
        return any(self._hosts.at(meaning, Place(place.function, value)) == HOST for value in given if value >= 0)

    def _call(self, module: Module, index: int) -> tuple[Meaning, Place] | None:
        site = module.sites[index]
        return call_at(self._users.resolver, self._users.meanings, module, site) if site.kind == "call" else None


def asked(entry: Entry) -> str:
    """The parameter of which an entry asks whether it is, or lies on, an accelerator; "" for none."""
    return next((name for name, condition in entry.when.items() if condition.accelerator), "")
