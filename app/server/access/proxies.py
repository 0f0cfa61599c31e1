"""Does a request come from a trusted proxy, and from whom through it?"""

from __future__ import annotations

import ipaddress

import flask

from app.server.settings import Settings, SettingsError

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
MAX_NAME = 128


class Proxies:
    """The trusted proxies of the settings.

    Raises:
        SettingsError: ``proxy_addresses`` names something else than addresses and networks.
    """

    def __init__(self, settings: Settings) -> None:
        self._user_header = settings.proxy_user_header
        self._groups_header = settings.proxy_groups_header
        try:
            words = [word.strip() for word in settings.proxy_addresses.split(",") if word.strip()]
            self._networks: list[Network] = [ipaddress.ip_network(word) for word in words]
        except ValueError as error:
            raise SettingsError(f"proxy_addresses: {error}") from error

    def trusts(self, address: str) -> bool:
        """Whether ``address`` is one of the proxies."""
        found = _address(address)
        return found is not None and any(found in network for network in self._networks)

    def client_address(self, request: flask.Request) -> str:
        """The peer, or the last address in ``X-Forwarded-For`` that is no trusted proxy where the peer is one."""
        address = request.remote_addr or ""
        given = request.headers.get("X-Forwarded-For", "").split(",")
        while given and self.trusts(address):
            word = given.pop().strip()
            if _address(word) is None:
                break
            address = word
        return address

    def identity(self, request: flask.Request) -> tuple[str, list[str]]:
        """User and groups that the headers name; the user is "" where they name none that can be one."""
        user = request.headers.get(self._user_header, "").strip()
        if len(user) > MAX_NAME or not user.isprintable() or "," in user:  # two headers arrive joined by a comma
            user = ""
        groups = request.headers.get(self._groups_header, "") if self._groups_header else ""
        return user, [group.strip() for group in groups.split(",") if group.strip()]


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        found = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return mapped or found


def neighbourhood(address: str) -> str:
    """What is counted as one address: an IPv6 host has a whole /64 to ask from."""
    found = _address(address)
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(found or address)
