"""From a reference to a model that answers: what there is, with which key, and what is missing.

    offline/demo            always there              scripted:play.jsonl     a file of turns
    provider/id             built in, or from models.json; a bare id where only one provider has it

A key comes from auth.json, else models.json, else the environment. Methods that are not async read
files and may run a key's command: call them in a worker thread. Never knows settings or a session.
Read next: catalogue.py (data), models_file.py, keys.py, values.py, local.py.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from pydantic import JsonValue

from singletree.errors import AuthMissing, SettingsError, SingletreeError
from singletree.jsontext import read_object
from singletree.model import catalogue, keys, local, values
from singletree.model.base import Model, ModelInfo, Terms
from singletree.model.catalogue import DEMO, Provider
from singletree.model.proxies import host_of, is_loopback
from singletree.pathtext import at_home

if TYPE_CHECKING:
    from singletree.model.http import Http

SCRIPTED = "scripted:"
CHOOSE = (
    "Choose one that is listed, set another defaultModel in settings.json, or add it to "
    "models.json."
)
NO_PROVIDER = "There is no provider {provider}; known are {known}. Others come from models.json."
EMPTY_KEY = "The key is empty: nothing was kept."
_MODELS, _KEYS = "models.json", "auth.json"
_BASE_URLS = {"anthropic": "ANTHROPIC_BASE_URL", "openai": "OPENAI_BASE_URL"}


@dataclass(frozen=True, slots=True)
class ModelListing:
    """A model, whether it can be used now, and if not, what is missing."""

    info: ModelInfo
    available: bool
    missing: str = ""


@dataclass(frozen=True, slots=True)
class AuthStatus:
    """Where the key of a provider comes from; `source` None: there is none."""

    provider: str
    name: str
    source: str | None
    variables: tuple[str, ...]
    needed: bool = True


class Catalog:
    """All models. `agent_dir` holds models.json and auth.json; nothing else is read.

    `without`: which of the two are left out, to look at the rest where they cannot be read.
    """

    def __init__(
        self,
        agent_dir: Path,
        env: Mapping[str, str],
        *,
        http: Http | None = None,
        without: Collection[str] = (),
    ) -> None:
        self._dir = agent_dir
        self._env = env
        self._without = without
        self._found: dict[str, tuple[ModelInfo, ...]] = {}
        self._http = http
        self._scripts: dict[Path, Model] = {}

    @property
    def http(self) -> Http:
        """The connections of all remote models."""
        if self._http is None:
            from singletree.model.http import Http  # slow to import, and not every start needs it

            self._http = Http(self._env)
        return self._http

    async def warm_up(self, wished: str | None) -> None:
        """Do what the first request to a provider would wait for, if one is likely to come."""
        likely = wished not in (None, DEMO.ref) and not str(wished).startswith(SCRIPTED)
        if likely or (wished is None and await self._with_keys()):
            await self.http.warm_up()

    async def close(self) -> None:
        """Close all connections."""
        if self._http is not None:
            await self._http.close()

    def find(self, ref: str, terms: Callable[[], Terms] = Terms) -> Model:
        """The model; SingletreeError(no_model) or AuthMissing say what to do."""
        if ref.startswith(SCRIPTED):
            return self._played(at_home(ref.removeprefix(SCRIPTED)))
        if ref in (DEMO.ref, DEMO.id):
            return _demo()
        provider, info = self._look_up(ref)
        return self._remote(provider, info, terms)

    def _played(self, path: Path) -> Model:
        """The model of a script: the same each time, for it goes on where it was."""
        from singletree.model.scripted import from_file

        if path not in self._scripts:
            self._scripts[path] = from_file(path)
        return self._scripts[path]

    def list(self) -> Sequence[ModelListing]:
        """Every model, with what it would need. Local servers as `discover` last found them."""
        stored = self._stored_keys()
        listed = [
            ModelListing(_whole(info, provider, self._env), not missing, missing)
            for provider in self._providers().values()
            for missing in [self._missing(provider, stored)]
            for info in self._models(provider)
        ]
        return [*listed, ModelListing(DEMO, True)]

    async def usable(self) -> Model:
        """The first model that can be used, else the demo."""
        for refs in (self._with_keys, self._that_answer):
            for ref in await refs():
                with suppress(SingletreeError):
                    return await anyio.to_thread.run_sync(self.find, ref)
        return _demo()

    async def discover(self) -> Sequence[ModelInfo]:
        """Ask the servers on this machine which models they have; kept for `list` and `find`."""
        providers = await anyio.to_thread.run_sync(self._providers)
        stored = await anyio.to_thread.run_sync(self._stored_keys)

        async def ask(provider: Provider) -> None:
            key = None
            with suppress(SettingsError):  # told to whoever chooses one of its models
                key = await anyio.to_thread.run_sync(self._key, provider, stored)
            found = await local.probe(provider, self._env, key)
            self._found[provider.id] = tuple(found)

        async with anyio.create_task_group() as group:
            for provider in providers.values():
                if _at_home(provider):
                    group.start_soon(ask, provider)
        return [info for found in self._found.values() for info in found]

    async def _with_keys(self) -> Sequence[str]:
        """References that need nothing more, of providers elsewhere."""
        listed = await anyio.to_thread.run_sync(self.list)
        providers = await anyio.to_thread.run_sync(self._providers)
        homes = {p.id for p in providers.values() if _at_home(p)}
        return [
            one.info.ref
            for one in listed
            if one.available and one.info is not DEMO and one.info.provider not in homes
        ]

    async def _that_answer(self) -> Sequence[str]:
        """References at servers on this machine that are switched on."""
        await self.discover()
        listed = await anyio.to_thread.run_sync(self.list)
        return [one.info.ref for one in listed if self._found.get(one.info.provider)]

    def silent(self) -> Sequence[tuple[str, str]]:
        """Servers on this machine at which `discover` found no model, and what to do."""
        providers = self._providers()
        return [
            (name, local.how_to_reach(providers[name]))
            for name, found in self._found.items()
            if not found and name in providers
        ]

    def faults(self) -> Mapping[str, str]:
        """What is wrong with models.json and auth.json; as it stands, no model can be used."""
        found: dict[str, str] = {}
        for name, read in ((_MODELS, self._providers), (_KEYS, self._stored_keys)):
            try:
                read()
            except SettingsError as error:
                found[name] = error.message
        return found

    def auth_status(self) -> Sequence[AuthStatus]:
        """For every provider where its key comes from."""
        stored = self._stored_keys()
        return [
            AuthStatus(p.id, p.name, self._source(p, stored), p.env, needed=not _at_home(p))
            for p in self._providers().values()
        ]

    def set_key(self, provider: str, key: str) -> None:
        """Keep a key in auth.json."""
        if provider not in self._providers():
            known = ", ".join(self._providers())
            raise SettingsError(NO_PROVIDER.format(provider=provider, known=known))
        if not key.strip():
            raise SettingsError(EMPTY_KEY)
        keys.write_key(self._auth_file, provider, key.strip())

    def remove_key(self, provider: str) -> None:
        """Forget the key in auth.json; one in the environment or models.json stays."""
        keys.write_key(self._auth_file, provider, None)

    @property
    def _auth_file(self) -> Path:
        return self._dir / _KEYS

    def _providers(self) -> dict[str, Provider]:
        known = {name: self._placed(p) for name, p in catalogue.PROVIDERS.items()}
        file = self._dir / _MODELS
        said = {} if _MODELS in self._without else read_object(file, _MODELS, notes=True)
        if not said:
            return known
        from singletree.model.models_file import merge

        return merge(known, said)

    def _placed(self, provider: Provider) -> Provider:
        base_url = self._env.get(_BASE_URLS.get(provider.id, ""), "").strip()
        placed = replace(provider, base_url=base_url) if base_url else provider
        return local.at_host(placed, self._env)

    def _stored_keys(self) -> Mapping[str, str]:
        return {} if _KEYS in self._without else keys.read_keys(self._auth_file)

    def _models(self, provider: Provider) -> Iterator[ModelInfo]:
        yield from provider.models
        known = {info.id for info in provider.models}
        yield from (m for m in self._found.get(provider.id, ()) if m.id not in known)

    def _look_up(self, ref: str) -> tuple[Provider, ModelInfo]:
        providers = self._providers()
        name, _, model_id = ref.partition("/")
        provider = providers.get(name)
        if provider is not None and model_id:
            for info in self._models(provider):
                if info.id == model_id:
                    return provider, info
            if provider.open:
                return provider, ModelInfo(provider=name, id=model_id, name=model_id)
        bare = [(p, m) for p in providers.values() for m in self._models(p) if m.id == ref]
        if len(bare) == 1:
            return bare[0]
        raise SingletreeError(
            f"There is no model {ref}.{self._near(ref, providers)}",
            code="no_model",
            hint=CHOOSE,
        )

    def _near(self, ref: str, providers: Mapping[str, Provider]) -> str:
        import difflib  # only here, for a start without it

        refs = [f"{p.id}/{m.id}" for p in providers.values() for m in self._models(p)]
        near = difflib.get_close_matches(ref, [*refs, DEMO.ref], 3, 0.5)
        return f" Did you mean {' or '.join(near)}?" if near else ""

    def _remote(self, provider: Provider, info: ModelInfo, terms: Callable[[], Terms]) -> Model:
        from singletree.model.remote import RemoteModel

        stored = self._stored_keys()
        key = self._key(provider, stored)
        missing = self._missing(provider, stored)
        if missing or (key is None and self._source(provider, stored) is not None):
            raise AuthMissing(
                f"No key for {provider.name}: {missing or 'its command printed nothing.'}",
                hint=missing,
                provider=provider.id,
            )
        whole = _whole(info, provider, self._env, terms().budgets)
        headers = self._headers(provider, info)
        if key and provider.auth_header:
            headers = {"authorization": f"Bearer {key}", **headers}
        return RemoteModel(whole, self.http, key=key, headers=headers, terms=terms)

    def _headers(self, provider: Provider, info: ModelInfo) -> dict[str, str]:
        own = info.compat.get("headers")
        given = {**provider.headers, **(own if isinstance(own, dict) else {})}
        resolved = {
            k: values.resolve(str(v), self._env, of=f"the header {k} of {provider.id}")
            for k, v in given.items()
        }
        return {k: v for k, v in resolved.items() if v is not None}

    def _key(self, provider: Provider, stored: Mapping[str, str]) -> str | None:
        for value in (stored.get(provider.id), provider.key):
            if value:
                key = values.resolve(value, self._env, of=f"the key of {provider.id}")
                return (key or "").strip() or None
        given = (self._env.get(name, "").strip() for name in provider.env)
        return next((key for key in given if key), None)

    def _source(self, provider: Provider, stored: Mapping[str, str]) -> str | None:
        if stored.get(provider.id):
            return "auth.json"
        if provider.key:
            return "models.json"
        given = any(self._env.get(name, "").strip() for name in provider.env)
        return "environment" if given else None

    def _missing(self, provider: Provider, stored: Mapping[str, str]) -> str:
        """What a person must do before this provider can be asked; "" for nothing."""
        source = self._source(provider, stored)
        value = stored.get(provider.id) if source == "auth.json" else provider.key
        if source in ("auth.json", "models.json") and value:
            variable = values.missing(value, self._env)
            return f"set the variable {variable}, which {source} names" if variable else ""
        if source is not None or _at_home(provider):
            return ""
        for login in _logins(provider):
            variable = values.missing(login, self._env)
            return f"set the variable {variable}, which {_MODELS} names" if variable else ""
        if provider.env:
            return f"set {' or '.join(provider.env)}, or store a key in auth.json"
        return f"give providers.{provider.id} an apiKey in models.json, or store one in auth.json"


def _demo() -> Model:
    from singletree.model.demo import DemoModel  # its grammar is compiled when it is first used

    return DemoModel()


def _at_home(provider: Provider) -> bool:
    """A server on this machine: it needs no key, but it may be switched off."""
    return provider.local or is_loopback(host_of(provider.base_url))


def _logins(provider: Provider) -> Iterator[str]:
    """Headers that stand in place of a key, as models.json gives them."""
    for name, value in provider.headers.items():
        if name.lower() in ("authorization", "x-api-key", "x-goog-api-key"):
            yield value


def _whole(
    info: ModelInfo,
    provider: Provider,
    env: Mapping[str, str],
    budgets: Mapping[str, int] | None = None,
) -> ModelInfo:
    """A model with what its provider says."""
    kept: dict[str, JsonValue] = {"thinkingBudgets": {**budgets}} if budgets else {}
    if env.get("PI_CACHE_RETENTION") == "long":
        kept["cacheRetention"] = "long"
    return replace(
        info,
        provider=provider.id,
        name=info.name or info.id,
        api=info.api or provider.api,
        base_url=info.base_url or provider.base_url,
        compat={**kept, **provider.compat, **info.compat},
    )
