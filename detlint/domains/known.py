"""All that is known of the values of one program: the domains, each made when something is first asked of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import NamedTuple

from detlint.config import Settings
from detlint.domains.constant.configuration import ByConfiguration
from detlint.domains.constant.parameters import Constants
from detlint.domains.device.alone import Alone
from detlint.domains.device.chosen import Hardware
from detlint.domains.device.documented import Documented
from detlint.domains.device.hardware_tests import DeviceTests
from detlint.domains.device.placed import Placed
from detlint.domains.fixed_data import FixedData
from detlint.domains.gradient.backward import Backward
from detlint.domains.gradient.frozen import Frozen
from detlint.domains.gradient.gradients import Gradients
from detlint.domains.gradient.origins import Origins
from detlint.domains.gradient.untrained import Untrained
from detlint.domains.matching.match import Matcher
from detlint.domains.numeric.exact import Exact
from detlint.domains.reached.unnamed import Unnamed
from detlint.domains.reached.unreferenced import Unused
from detlint.model.families import Families
from detlint.model.imports import Imports
from detlint.model.module import Module
from detlint.model.others import Others
from detlint.model.patched import Patched
from detlint.model.project import Project
from detlint.model.readers import Readers
from detlint.model.registries import Kept
from detlint.model.training import Training
from detlint.model.uses import Use, Users


class Followed(NamedTuple):
    """What those who follow runs find out of code, whichever run it is of."""

    imports: Callable[[], Imports]
    """Which imports surely raise."""
    kept_by: Callable[[Module], Iterable[Kept]]
    """What importing a file puts into registries."""


class Domains:
    """What rules ask of the program, besides what a site fulfils.

    Args:
        matcher: says which entries of the catalog a site fulfils.
        users: finds who uses a definition.
        settings: what is asked for.
        project: what the project says of itself.
        followed: is asked later than it is made, as who follows runs asks the domains.
    """

    def __init__(
        self, matcher: Matcher, users: Users, settings: Settings, project: Project, followed: Followed
    ) -> None:
        self.matcher, self.users, self.settings, self.project, self.followed = (
            matcher,
            users,
            settings,
            project,
            followed,
        )
        self.resolver = matcher.resolver
        self.catalog = matcher.catalog

    # -- who names, sets and reads what ---------------------------------------------------------------------------------

    @cached_property
    def attributes(self) -> Readers:
        return Readers(self.users)

    @cached_property
    def families(self) -> Families:
        return Families(self.users, self.attributes)

    @cached_property
    def others(self) -> Others:
        return Others(self.users)

    @cached_property
    def patched(self) -> Patched:
        return Patched(self.users)

    def callers(self, module: Module, name: str) -> list[Use] | None:
        """The uses of a function, outside of tests; None where there may be more: in what is installed, or by names put together."""
        return None if self.unnamed.is_in_library(module) else self.gradients.uses(module, name)

    # -- constant -------------------------------------------------------------------------------------------------------

    @cached_property
    def configuration(self) -> ByConfiguration:
        return ByConfiguration(self.users, self.project.documents)

    @cached_property
    def constants(self) -> Constants:
        return Constants(self)

    @cached_property
    def own_constants(self) -> Constants:
        """By the calls of the program itself, whoever else may call."""
        return Constants(self, offered=False)

    @cached_property
    def configured_constants(self) -> Constants:
        """By those, and by what all files of settings have."""
        return Constants(self, offered=False, configured=self.configuration)

    # -- device ---------------------------------------------------------------------------------------------------------

    @cached_property
    def placed(self) -> Placed:
        return Placed(self.users)

    @cached_property
    def device_tests(self) -> DeviceTests:
        return DeviceTests(self.matcher, self.users)

    @cached_property
    def documented(self) -> Documented:
        return Documented(self.matcher, self.settings, self.project.documents, self.users)

    @cached_property
    def hardware(self) -> Hardware:
        return Hardware(self.resolver, self.users, self.untrained)

    @cached_property
    def alone(self) -> Alone:
        return Alone(self.matcher, self.users, self.project.documents)

    # -- gradient -------------------------------------------------------------------------------------------------------

    @cached_property
    def training(self) -> Training:
        return Training(self.resolver, self.users.meanings)

    @cached_property
    def gradients(self) -> Gradients:
        return Gradients(self.matcher, self.users, self.training, self.project.root)

    @cached_property
    def backward(self) -> Backward:
        return Backward(self.settings, self.matcher, self.gradients)

    @cached_property
    def own_origins(self) -> Origins:
        """From what tensors come, by the calls of the program itself."""
        return Origins(self.matcher, self.gradients, any_input=True)

    @cached_property
    def frozen(self) -> Frozen:
        unnamed = self.unnamed
        return Frozen(self.gradients, self.users, unnamed.is_in_library, unnamed.holds, self.untrained.may_train_in)

    @cached_property
    def untrained(self) -> Untrained:
        return Untrained(self.catalog, self.users, self.unnamed, self.training)

    # -- numeric, and order ---------------------------------------------------------------------------------------------

    @cached_property
    def exact(self) -> Exact:
        return Exact(self.matcher, self.attributes, self.callers)

    @cached_property
    def fixed_data(self) -> FixedData:
        return FixedData(self.matcher, self.users)

    # -- reached --------------------------------------------------------------------------------------------------------

    @cached_property
    def unnamed(self) -> Unnamed:
        return Unnamed(self)

    @cached_property
    def unused(self) -> Unused:
        return Unused(self.matcher, self.users, self.attributes, self.unnamed.is_in_library)
