"""The catalog by what the analyzer asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cached_property
from itertools import chain

import msgspec

from detlint.catalog.compiled import Compiled
from detlint.catalog.entries import (
    OPEN_SEED,
    RAISES,
    REMOVED,
    SHUFFLED,
    TRANSFORM,
    Entry,
    Factory,
    Signature,
    Switch,
)
from detlint.catalog.places import Places, merged


class Signatures(Mapping[str, Signature]):
    """The parameters of each API, read when first asked for."""

    def __init__(self, encoded: msgspec.Raw) -> None:
        self._whole = encoded
        self._read: dict[str, Signature] = {}
        self._decoder = msgspec.msgpack.Decoder(Signature)

    @cached_property
    def _encoded(self) -> dict[str, msgspec.Raw]:
        return msgspec.msgpack.decode(self._whole, type=dict[str, msgspec.Raw])

    def __getitem__(self, name: str) -> Signature:
        if name not in self._read:
            self._read[name] = self._decoder.decode(self._encoded[name])
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._encoded)

    def __len__(self) -> int:
        return len(self._encoded)


class Catalog:
    """All that is known, indexed by what the analyzer asks for. What its tables hold is told at `Tables`."""

    def __init__(self, known: Compiled, fingerprint: str) -> None:
        self.fingerprint = fingerprint
        self.rules = {rule.code: rule for rule in known.rules}
        self.frameworks = known.frameworks
        self.factories = known.factories
        self.settings_files = known.settings_files
        self.launchers = known.launchers
        self.kernel_languages = known.kernel_languages
        self.signatures = Signatures(known.signatures)
        self.aliases = known.aliases
        tables = known.tables
        self.calls = tables.calls
        self.registry = tables.registry
        self.sections = tables.sections
        self.copies = tables.copies
        self.assignments = tables.assignments
        self.environment = tables.environment
        self.commands = tables.commands
        self.reading = tables.reading
        """What reads a file of settings -> the parameter that names it, or is it."""
        self.settings = tables.settings
        self.orders = tables.orders
        self.members = tables.members
        self.mentions = tables.mentions
        self.methods = tables.methods
        self.stand_ins = tables.stand_ins
        self.devices = tables.devices
        self._encoded = known.entries

    @cached_property
    def entries(self) -> list[Entry]:
        """All of them, in file order."""
        return msgspec.msgpack.decode(self._encoded, type=list[Entry])

    @cached_property
    def kernel_names(self) -> frozenset[str]:
        """All names that are known of languages in which Python has kernels."""
        languages = (each for each in self.kernel_languages if each.kernels or each.programs)
        names = (name for each in languages for key in msgspec.structs.astuple(each)[1:-1] for name in key)
        return frozenset(name for name in names if "." in name)

    @cached_property
    def roots(self) -> frozenset[str]:
        """Top-level import names of the frameworks."""
        return frozenset(module for framework in self.frameworks for module in framework.modules)

    @cached_property
    def libraries(self) -> frozenset[str]:
        """Top-level import names of all that has calls."""
        return frozenset(name.partition(".")[0] for name in self.calls)

    @cached_property
    def modules(self) -> frozenset[str]:
        """The modules that have such, and those that these are in."""
        found = set[str]()
        for name in self.calls:
            owner = name.rpartition(".")[0]
            while owner and owner not in found:
                if owner.rpartition(".")[2].islower():
                    found.add(owner)
                owner = owner.rpartition(".")[0]
        return frozenset(found)

    def member_of(self, library: str, name: str) -> str:
        """The dotted name of the one thing in a library that ends so; "" where there is none, or several."""
        return self._members_of.get(library, {}).get(name, "")

    @cached_property
    def _members_of(self) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = {factory.library: {} for factory in self.factories if factory.library}
        for full in self.calls:
            members = found.get(full.partition(".")[0])
            if members is not None:
                last = full.rpartition(".")[2]
                members[last] = "" if last in members else full
        return found

    def beginning(self, text: str) -> tuple[str, ...]:
        """The dotted names of what can be called that begin so, in order; their last component begins in the text."""
        owner = text.rpartition(".")[0]
        return tuple(sorted(name for name in self.calls if name.startswith(text) and name.rpartition(".")[0] == owner))

    @cached_property
    def scopes(self) -> frozenset[str]:
        """The libraries whose registries hold what `registry` knows."""
        return frozenset(scope for factory in self.factories for scope in factory.scopes)

    @cached_property
    def factory_keys(self) -> dict[str, Factory]:
        """The keys that name what a table builds."""
        return {factory.key: factory for factory in self.factories if factory.key}

    @cached_property
    def builders(self) -> dict[str, list[Factory]]:
        """The functions that build what a table says, by one of several keys."""
        found: dict[str, list[Factory]] = {}
        for factory in self.factories:
            for name in factory.builders:
                found.setdefault(name, []).append(factory)
        return found

    @cached_property
    def builder_words(self) -> frozenset[str]:
        """The last components of their names."""
        return frozenset(name.rpartition(".")[2] for name in self.builders)

    @cached_property
    def factory_tags(self) -> dict[str, Factory]:
        """The YAML tags that do, as far as the name."""
        return {tag: factory for factory in self.factories for tag in (*factory.tags, *factory.partial_tags)}

    @cached_property
    def switches(self) -> dict[str, Switch]:
        """The switch of each top-level import name whose framework has one."""
        return {module: f.switch for f in self.frameworks if f.switch is not None for module in f.modules}

    @cached_property
    def acting(self) -> frozenset[str]:
        """The names whose calls matter where they stand; others only tell the type of what they give back."""
        acting = (entry.names for entry in self.entries if entry.kind == "call" and entry.acts)
        return frozenset(chain.from_iterable(acting))

    @cached_property
    def keeping(self) -> frozenset[str]:
        """The names of what keeps the function that it is handed, so that as decorators they do, too."""
        keeping = (
            entry.names for entry in self.entries if entry.hands is not None and "keeps-functions" in entry.contexts
        )
        return frozenset(chain.from_iterable(keeping))

    @cached_property
    def _spellings(self) -> dict[str, list[str]]:
        """The last component of a name -> those that its aliases have instead."""
        found: dict[str, list[str]] = {}
        for alias, target in self.aliases.items():
            own, last = alias.rpartition(".")[2], self.canonical(target).rpartition(".")[2]
            if own != last:
                found.setdefault(last, []).append(own)
        return found

    def last(self, names: Iterable[str]) -> frozenset[str]:
        """The last components of names, and of their aliases."""
        words = {name.rpartition(".")[2] for name in names}
        return frozenset(words.union(*(self._spellings[word] for word in words & self._spellings.keys())))

    @cached_property
    def words(self) -> frozenset[str]:
        """The last component of everything that can make a site."""
        tables = (
            self.acting, self.registry, self.sections, self.copies, self.assignments, self.environment, self.commands,
            self.members,
        )  # fmt: skip
        return self.last(name for table in tables for name in table)

    def words_of(self, codes: Set[str]) -> frozenset[str]:
        """The last component of everything that can break one of some rules."""
        return frozenset().union(*(words for code, words in self._words_by_code.items() if code in codes))

    @cached_property
    def _words_by_code(self) -> dict[str, frozenset[str]]:
        names: dict[str, set[str]] = {}
        for entry in self.entries:
            if entry.rule and entry.kind != "order":
                names.setdefault(entry.rule, set()).update(entry.names, entry.registry, entry.sections, entry.copies)
        return {code: self.last(own) for code, own in names.items()}

    @cached_property
    def drawing_words(self) -> frozenset[str]:
        """The last component of what draws from a stream and is no finding by itself."""
        entries = (entry for entry in self.entries if entry.draws and not entry.rule)
        return frozenset(name.rpartition(".")[2] for entry in entries for name in entry.names)

    @cached_property
    def seeded_words(self) -> frozenset[str]:
        """The last component of what takes a seed."""
        return self.last(name for entry in self.entries if entry.seed for name in entry.names)

    @cached_property
    def setting_words(self) -> frozenset[str]:
        """The last component of what seeds a stream or sets a switch."""
        entries = (entry for entry in self.entries if entry.seeds or entry.unseeds or entry.sets)
        return self.last(name for entry in entries for name in entry.names)

    @cached_property
    def all_drawing_words(self) -> frozenset[str]:
        """The last component of everything that draws, whether or not it is a finding by itself."""
        return self.last(name for entry in self.entries if entry.draws for name in entry.names)

    @cached_property
    def method_words(self) -> frozenset[str]:
        """The last component of everything that may be called on an object."""
        split = [(name, *name.rpartition(".")) for table in (self.acting, self.copies) for name in table]
        return self.last(
            name
            for name, owner, _, last in split
            if not owner or owner.rpartition(".")[2][:1].isupper() or last == "apply"
        )

    @cached_property
    def modes(self) -> frozenset[str]:
        """The attributes of layers that say whether they train."""
        return frozenset(framework.mode for framework in self.frameworks if framework.mode)

    @cached_property
    def buffers(self) -> frozenset[str]:
        """Methods by which a layer keeps a tensor that is no parameter."""
        return frozenset(name for framework in self.frameworks for name in framework.buffers)

    @cached_property
    def weights(self) -> frozenset[str]:
        """Names of parameters that are handed stored weights."""
        return frozenset(name for framework in self.frameworks for name in framework.weights)

    @cached_property
    def raising(self) -> frozenset[str]:
        """The names whose calls may come to an error."""
        return self.with_context(RAISES)

    @cached_property
    def lacking(self) -> frozenset[str]:
        """Those of them that don't exist at all, so that importing one does, too."""
        return frozenset(
            n for e in self.entries if RAISES in e.contexts and not e.when and not e.versions for n in e.names
        )

    @cached_property
    def removed(self) -> dict[str, str]:
        """Names that a library had once -> the releases without them."""
        return {name: entry.versions for entry in self.entries if REMOVED in entry.contexts for name in entry.names}

    @cached_property
    def asking(self) -> frozenset[str]:
        """What raises in all releases of its library that are older than the one that it is told."""
        return self.with_context("asks-for-release")

    @cached_property
    def raising_words(self) -> frozenset[str]:
        """The last component of the names whose calls may come to an error."""
        return self.last(self.raising)

    @cached_property
    def words_and_raising(self) -> tuple[frozenset[str], frozenset[str]]:
        """The last component of everything that can make a site, and of what may be called on an object, with these."""
        return self.words | self.raising_words, self.method_words | self.raising_words

    @cached_property
    def raising_roots(self) -> frozenset[str]:
        """The libraries that such are known of."""
        return frozenset(name.partition(".")[0] for name in self.raising)

    def lacks(self, name: str) -> bool:
        """Whether a library surely doesn't have what is imported by a dotted name, or what that leads through."""
        name = self.canonical(name)
        while name and name not in self.lacking:
            name = name.rpartition(".")[0]
        return name != ""

    def with_context(self, context: str) -> frozenset[str]:
        """The names of all that a context is said of."""
        return self._by_context.get(context, frozenset())

    @cached_property
    def _by_context(self) -> dict[str, frozenset[str]]:
        names: dict[str, set[str]] = {}
        for entry in self.entries:
            for context in entry.contexts:
                names.setdefault(context, set()).update(entry.names)
        return {context: frozenset(own) for context, own in names.items()}

    def words_with(self, context: str) -> frozenset[str]:
        """The last components of these names; their aliases aren't among them."""
        return frozenset(name.rpartition(".")[2] for name in self.with_context(context))

    @cached_property
    def loading(self) -> frozenset[str]:
        """What loads weights, by its last component."""
        return self.last(self.with_context("loads-weights"))

    @cached_property
    def weights_from(self) -> dict[str, str]:
        """Streams of frameworks -> those that the seeds of their initial weights are drawn from."""
        return {framework.name: framework.weights_from for framework in self.frameworks if framework.weights_from}

    @cached_property
    def adding(self) -> frozenset[str]:
        """The frameworks of which it is known what adds up between devices by itself."""
        return frozenset(name.partition(".")[0] for name in self.with_context("sums-between-devices"))

    @cached_property
    def leaves(self) -> frozenset[str]:
        """Functions and methods that give tensors without gradients."""
        return frozenset(name for framework in self.frameworks for name in framework.leaves)

    @cached_property
    def inputs(self) -> frozenset[str]:
        """Names of parameters that are handed data."""
        return frozenset(name for framework in self.frameworks for name in framework.inputs)

    @cached_property
    def networks(self) -> frozenset[str]:
        """Classes from which whole networks derive."""
        return frozenset(name for framework in self.frameworks for name in framework.networks)

    @cached_property
    def latents(self) -> frozenset[str]:
        """Parts of the names of parameters by which a whole network is handed data."""
        return frozenset(part for framework in self.frameworks for part in framework.latents)

    @cached_property
    def classes(self) -> frozenset[str]:
        """Names of parameters by which a network is told how many classes there are."""
        return frozenset(name for framework in self.frameworks for name in framework.classes)

    @cached_property
    def channels(self) -> frozenset[str]:
        """Names of parameters by which a network is told how many channels its images have."""
        return frozenset(name for framework in self.frameworks for name in framework.channels)

    @cached_property
    def addresses(self) -> tuple[str, ...]:
        """How options, environment variables and schemes begin behind which an address stands."""
        return tuple(sorted({name for framework in self.frameworks for name in framework.addresses}))

    @cached_property
    def labels(self) -> frozenset[str]:
        """Functions that only take names of files, folders and runs, and addresses."""
        return frozenset(name for framework in self.frameworks for name in framework.labels)

    @cached_property
    def testing(self) -> frozenset[str]:
        """Environment variables, and modules, that are only there while tests run."""
        return frozenset(name for framework in self.frameworks for name in framework.testing)

    @cached_property
    def chooses(self) -> frozenset[str]:
        """Functions that choose some of many, or make some up, by their last component."""
        return frozenset(name for framework in self.frameworks for name in framework.chooses)

    @cached_property
    def shows(self) -> frozenset[str]:
        """What only shows people what it is handed: libraries, and functions and methods by their last component."""
        return frozenset(name for framework in self.frameworks for name in framework.shows)

    @cached_property
    def paints(self) -> frozenset[str]:
        """Functions that paint on the picture that is their first argument."""
        return frozenset(name for framework in self.frameworks for name in framework.paints if "." in name)

    @cached_property
    def plots(self) -> re.Pattern[str]:
        """Finds parts of the names of functions that paint or plot."""
        parts = {name.rpartition(".")[2] for framework in self.frameworks for name in framework.paints}
        return re.compile("|".join(map(re.escape, sorted(parts))))

    @cached_property
    def colours(self) -> frozenset[str]:
        """Parameters by which whoever paints or plots is handed a colour."""
        return frozenset(name for framework in self.frameworks for name in framework.colours)

    @cached_property
    def plotters(self) -> frozenset[str]:
        """The names of which code says one that shows pictures."""
        painting = {name.rpartition(".")[2] for name in self.paints}
        return frozenset((self.shows - {"print"}) | self.colours | painting)

    @cached_property
    def looks(self) -> tuple[str, ...]:
        """Beginnings of the names of what does nothing but to give something for what it is handed."""
        return tuple(sorted({name for framework in self.frameworks for name in framework.looks}))

    @cached_property
    def fills(self) -> frozenset[str]:
        """Methods that put what they are handed into their object, and do no more."""
        return frozenset(name for framework in self.frameworks for name in framework.fills)

    @cached_property
    def makes(self) -> frozenset[str]:
        """Functions that make an object which nobody else has, by their last component."""
        return frozenset(name for framework in self.frameworks for name in framework.makes)

    @cached_property
    def assembles(self) -> frozenset[str]:
        """Libraries whose objects do nothing before they are used."""
        return frozenset(name for framework in self.frameworks for name in framework.assembles)

    @cached_property
    def used_later(self) -> frozenset[str]:
        """The last components of their classes whose objects draw then."""
        names = (name for name, found in self.calls.items() if any(self.entries[i].rule == OPEN_SEED for i in found))
        return self.last(
            n for n in names if n.partition(".")[0] in self.assembles and n.rpartition(".")[2][:1].isupper()
        )

    @cached_property
    def transforms(self) -> frozenset[str]:
        """The last components of the classes of random transforms."""
        names = (name for entry in self.entries if entry.rule == TRANSFORM for name in entry.names)
        return self.last(name for name in names if name.rpartition(".")[2][:1].isupper())

    @cached_property
    def data_sets(self) -> frozenset[str]:
        """What makes a data set, or takes one in random order, and does nothing before somebody goes through what it gives."""
        return frozenset(
            name
            for entry in self.entries
            for name in entry.names
            if entry.returns.endswith("Dataset") or (entry.rule == SHUFFLED and name.rpartition(".")[2][:1].isupper())
        )

    @cached_property
    def giving_several(self) -> frozenset[str]:
        """Callables whose arguments decide the class of what they give."""
        kinds: dict[str, set[str]] = {}
        for entry in self.entries:
            if entry.returns:
                for name in entry.names:
                    kinds.setdefault(name, set()).add(entry.returns)
        return frozenset(name for name, found in kinds.items() if len(found) > 1)

    @cached_property
    def held(self) -> dict[str, str]:
        """Classes -> the class of what their objects hold under names."""
        return {name: entry.holds for entry in self.entries if entry.holds for name in entry.names}

    @cached_property
    def data_methods(self) -> frozenset[str]:
        """The methods of data sets that give such a data set, too."""
        found = (name.rpartition(".") for entry in self.entries for name in entry.names if name in self.data_sets)
        return frozenset(last for owner, _, last in found if owner.endswith("Dataset"))

    @cached_property
    def preparing(self) -> frozenset[str]:
        """The last components of what only makes data sets, or seeds."""
        return self.shuffled_words | self.seeded_words

    @cached_property
    def describing(self) -> frozenset[str]:
        """What data sets have that says nothing of the order in which they are taken, by its last component."""
        return self.words_with("describes-data")

    @cached_property
    def shuffled_words(self) -> frozenset[str]:
        """The last components of those that are taken in random order."""
        found = {name: [self.entries[i] for i in self.calls.get(name, ())] for name in self.data_sets}
        return self.last(name for name, entries in found.items() if any(e.rule == SHUFFLED or e.draws for e in entries))

    @cached_property
    def by_shape(self) -> dict[str, tuple[set[str], set[str]]]:
        """Functions that take only the shape of what follows their first argument, by their last component -> their libraries,
        and the parameters that their first argument may be given by."""
        found: dict[str, tuple[set[str], set[str]]] = {}
        for entry in (entry for entry in self.entries if "by-shape" in entry.contexts):
            for name in entry.names:
                libraries, firsts = found.setdefault(name.rpartition(".")[2], (set(), set()))
                libraries.add(name.partition(".")[0])
                firsts.update(entry.consumes)
        return found

    @cached_property
    def pipelines(self) -> frozenset[str]:
        """What a data pipeline is handed functions by."""
        return frozenset(name for framework in self.frameworks for name in framework.pipelines)

    @cached_property
    def whole(self) -> frozenset[str]:
        """Types of whole numbers, and functions that give tensors of them."""
        return frozenset(name for framework in self.frameworks for name in framework.whole)

    @cached_property
    def half(self) -> frozenset[str]:
        """Types of floating-point numbers of 16 bits, and methods that give tensors of them."""
        return frozenset(name for framework in self.frameworks for name in framework.half)

    @cached_property
    def precise(self) -> frozenset[str]:
        """Types of numbers that hold any count."""
        return frozenset(name for framework in self.frameworks for name in framework.precise)

    @cached_property
    def casts(self) -> frozenset[str]:
        """What gives a tensor in another type."""
        return frozenset(name for framework in self.frameworks for name in framework.casts)

    @cached_property
    def casting_methods(self) -> frozenset[str]:
        """The methods of tensors among them."""
        return self._of_tensors(self.casts)

    @cached_property
    def compares(self) -> frozenset[str]:
        """What gives tensors of booleans, by itself or by the objects that it makes."""
        return frozenset(name for framework in self.frameworks for name in framework.compares)

    @cached_property
    def scalars(self) -> frozenset[str]:
        """Losses that give one number, unless their `reduction` is "none"."""
        return frozenset(name for framework in self.frameworks for name in framework.scalars)

    @cached_property
    def wraps(self) -> frozenset[str]:
        """Functions that make a tensor of the numbers that they get."""
        return frozenset(name for framework in self.frameworks for name in framework.wraps)

    @cached_property
    def reshapes(self) -> frozenset[str]:
        """What gives the same numbers in another shape, by itself or by the objects that it makes."""
        return frozenset(name for framework in self.frameworks for name in framework.reshapes)

    @cached_property
    def stacks(self) -> frozenset[str]:
        """Functions that put tensors side by side along a new axis."""
        return frozenset(name for framework in self.frameworks for name in framework.stacks)

    @cached_property
    def computing(self) -> frozenset[str]:
        """Functions that make a tensor of others, and do nothing else."""
        made = (name for framework in self.frameworks for name in (*framework.computes, *framework.reshapes))
        return frozenset(made) | self.stacks | self.casts | self.compares

    @cached_property
    def ranges(self) -> frozenset[str]:
        """Functions that give a tensor of numbers, each another one."""
        return frozenset(name for framework in self.frameworks for name in framework.ranges)

    @cached_property
    def zeros(self) -> frozenset[str]:
        """Functions that give a tensor of zeros."""
        return frozenset(name for framework in self.frameworks for name in framework.zeros)

    @cached_property
    def places(self) -> Places:
        """Where tensors lie that something gives, and what moves them."""
        return merged(framework.places for framework in self.frameworks if framework.places is not None)

    @cached_property
    def constants(self) -> frozenset[str]:
        """Functions that give a tensor full of one number."""
        return frozenset(name for framework in self.frameworks for name in framework.constants)

    @cached_property
    def picks(self) -> frozenset[str]:
        """Functions that take each number from one of two."""
        return frozenset(name for framework in self.frameworks for name in framework.picks)

    @cached_property
    def type_words(self) -> frozenset[str]:
        """The last component of the types of whole numbers, or of few bits, which are no functions."""
        return frozenset(
            name.rpartition(".")[2]
            for name in self.whole | self.half
            if name not in self.calls and name.count(".") == 1
        )

    @cached_property
    def differentiated(self) -> frozenset[str]:
        """The functions that are judged by their backward pass."""
        judged = (entry for entry in self.entries if entry.rule and entry.pass_ == "backward")
        names = (name for entry in judged for name in entry.names)
        return frozenset(name for name in names if not name.rpartition(".")[2][:1].isupper())

    @cached_property
    def plain_methods(self) -> frozenset[str]:
        """The methods of tensors that give none."""
        return self._of_tensors(name for framework in self.frameworks for name in framework.plain)

    @cached_property
    def gradients_end(self) -> frozenset[str]:
        """The methods of tensors that no gradient comes back through."""
        return self._of_tensors((*self.leaves, *self.whole))

    @cached_property
    def tensors(self) -> frozenset[str]:
        """The classes of tensors."""
        return frozenset(framework.tensor for framework in self.frameworks)

    @cached_property
    def tensor_methods(self) -> frozenset[str]:
        """Methods that tensors have, as far as anything is known of them."""
        return self._of_tensors((*self.calls, *self.computing, *self.whole, *self.leaves)) | self.plain_methods

    def _of_tensors(self, names: Iterable[str]) -> frozenset[str]:
        """The methods of tensors among some names."""
        split = (name.rpartition(".") for name in names)
        return frozenset(last for owner, _, last in split if owner in self.tensors)

    @cached_property
    def ordering(self) -> frozenset[str]:
        """What gives the elements of a set an order."""
        return frozenset(name for name, found in self.orders.items() if any(self.entries[i].rule for i in found))

    @cached_property
    def same_order(self) -> frozenset[str]:
        """What gives back the items that it is given, in their order."""
        return self._for_items("same-order")

    @cached_property
    def passing(self) -> frozenset[str]:
        """The last components of what gives back the items that it is given, copies of it included."""
        names = (*self.same_order, *(copy for copy, name in self.stand_ins.items() if name in self.same_order))
        return self.last(names)

    @cached_property
    def orderless(self) -> frozenset[str]:
        """What doesn't care about the order of what it is given, or puts it right."""
        return self._for_items("orderless")

    @cached_property
    def keeps_order(self) -> frozenset[str]:
        """What makes data of the items that it is given, in their order."""
        return self._for_items("keeps-order")

    @cached_property
    def numbers_texts(self) -> frozenset[str]:
        """What is given texts, and gives each the number of its place."""
        return self._for_items("numbers-texts")

    @cached_property
    def giving_callables(self) -> frozenset[str]:
        """The last components of what gives an object of a class of which calls are known."""
        called = {name.removesuffix(".__call__") for name in self.calls if name.endswith(".__call__")}
        made = (name for entry in self.entries if entry.returns in called for name in entry.names)
        return self.last((*called, *made))

    @cached_property
    def giving_texts(self) -> frozenset[str]:
        """What gives a text, or bytes, whatever it is given."""
        return self._for_items("gives-text")

    @cached_property
    def giving_numbers(self) -> frozenset[str]:
        """What gives a number."""
        return self._for_items("gives-number")

    def _for_items(self, context: str) -> frozenset[str]:
        return frozenset(
            name for name, found in self.orders.items() if any(context in self.entries[i].contexts for i in found)
        )

    @cached_property
    def key_words(self) -> frozenset[str]:
        """The last component of what makes, derives or uses up random keys, or repeats what does."""
        return self.last(name for entry in self._about_keys for name in entry.names)

    @cached_property
    def key_roots(self) -> frozenset[str]:
        """The libraries of what does."""
        return frozenset(name.partition(".")[0] for entry in self._about_keys for name in entry.names)

    @property
    def _about_keys(self) -> list[Entry]:
        return [e for e in self.entries if e.consumes or not {"key", "repeats"}.isdisjoint(e.contexts)]

    def canonical(self, name: str) -> str:
        """The public name of `name`: `torch.nn.modules.dropout.Dropout` -> `torch.nn.Dropout`."""
        if name in self.calls:
            return name
        aliases = self.aliases
        head = name
        while head:
            target = aliases.get(head)
            if target is not None:
                return self.canonical(target + name[len(head) :])
            head = head.rpartition(".")[0]
        return name
