"""The links that run a notebook elsewhere lead to what the repository holds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import yaml
from site_checks import Page, Site

ROOT = Path(__file__).resolve().parents[2]
CONFIG: dict[str, Any] = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
ADDRESS: str = CONFIG["repository"]["url"]
BRANCH: str = CONFIG["repository"]["branch"]
OWNER_AND_NAME = "/".join(ADDRESS.split("/")[-2:])


def buttons(page: Page) -> dict[str, str]:
    """Return the addresses of a page's launch buttons, by their names."""
    links = page.soup.select(".dropdown-launch-buttons a")
    return {" ".join(link.get_text().split()): str(link["href"]) for link in links}


def source_of(page: Page) -> str:
    """Return the path that a page's notebook should have in the repository."""
    return re.sub(r"\.html$", ".ipynb", page.name)


def test_every_notebook_has_its_buttons_and_no_other_page_has(site: Site) -> None:
    notebooks = {path.name for path in (ROOT / "notebooks").glob("*.ipynb")}
    seen = set()
    for page in site.pages:
        if page.name.startswith("notebooks/"):
            assert set(buttons(page)) == {"Run on Binder", "Run on Colab"}, page.name
            seen.add(Path(source_of(page)).name)
        else:
            assert not buttons(page), page.name
    assert seen == notebooks


def test_binder_opens_the_pages_own_notebook_in_jupyterlab(site: Site) -> None:
    for page in site.pages:
        if link := buttons(page).get("Run on Binder"):
            url = urlsplit(link)
            assert f"{url.scheme}://{url.netloc}" == CONFIG["launch_buttons"]["binderhub_url"]
            assert url.path == f"/v2/gh/{OWNER_AND_NAME}/{BRANCH}"
            assert parse_qs(url.query, strict_parsing=True) == {
                "urlpath": [f"lab/tree/{source_of(page)}"]
            }
            assert (ROOT / source_of(page)).is_file(), page.name


def test_colab_opens_the_pages_own_notebook(site: Site) -> None:
    for page in site.pages:
        if link := buttons(page).get("Run on Colab"):
            host = CONFIG["launch_buttons"]["colab_url"]
            expected = f"{host}/github/{OWNER_AND_NAME}/blob/{BRANCH}/{source_of(page)}"
            assert link == expected


def test_the_menu_has_a_name_and_draws_nothing(site: Site) -> None:
    """No picture is loaded for it, and its name isn't said twice."""
    for page in site.pages:
        for menu in page.soup.select(".dropdown-launch-buttons"):
            [button] = menu.select("button")
            assert button["aria-label"] == "Run this notebook"
            assert not menu.select("img, [onclick]")
            assert all("title" not in link.attrs for link in menu.select("a"))


def test_no_page_shows_the_set_up_cell_and_every_notebook_to_load_has_it(site: Site) -> None:
    for page in site.pages:
        if page.name.startswith("notebooks/"):
            assert "find_spec" not in page.soup.select_one("article").get_text()
            loaded = site.root / "_sources" / source_of(page)
            has_it = f"git+{ADDRESS}@{BRANCH}" in loaded.read_text("utf-8")
            assert has_it, f"{page.name}: run tools/setup_cells.py"


def test_what_a_student_installs_has_the_address_that_is_set(site: Site) -> None:
    listings = site.by_name["book/seminar/hub.html"].soup.select(".highlight-bash pre")
    (lines,) = [pre.get_text() for pre in listings if "pip install" in pre.get_text()]
    assert f'"elmo-toy[notebooks] @ git+{ADDRESS}@{BRANCH}"' in lines


def test_the_maker_of_links_offers_every_notebook(site: Site) -> None:
    page = site.by_name["book/seminar/hub.html"]
    [box] = page.soup.select(".elmo-links")
    assert box["data-repository"] == ADDRESS
    offered = [str(option["value"]) for option in box.select("option")]
    assert offered == sorted(f"notebooks/{path.name}" for path in ROOT.glob("notebooks/*.ipynb"))
    assert all(option.get_text().strip() for option in box.select("option"))
    assert box.select_one("[name=branch]")["value"] == BRANCH
    pattern = box.select_one("pre").get_text()
    filled = urlsplit(pattern.replace("NOTEBOOK", "notebooks%2Fa.ipynb").replace("BRANCH", "v1"))
    assert parse_qs(filled.query, strict_parsing=True) == {
        "repo": [ADDRESS],
        "urlpath": [f"lab/tree/{ADDRESS.rpartition('/')[2]}/notebooks/a.ipynb"],
        "branch": ["v1"],
    }
