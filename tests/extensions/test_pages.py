"""What a reader of the fixture site sees."""

from sites import Build, Site, text


def panels(node) -> dict[str, str]:
    """The text in each tab of a set."""
    names = [text(label) for label in node.findall("label")]
    return dict(zip(names, map(text, node.findall("div")), strict=True))


def test_strict_parallel_build(built: tuple[Site, Build]):
    _, build = built
    assert build.code == 0, build.warnings
    assert "WARNING" not in build.warnings
    assert len(build.executed) == 2 * 4  # four pages with code, two frameworks


def test_adjacent_cells_become_tabs(good: Site):
    sets = good.html("tabs").find_class("framework-tabs")
    assert [panels(s) for s in sets] == [
        {"PyTorch": "x = 0.25", "JAX": "x = -0.5"},
        {"PyTorch": "\"torch 1\" 'torch 1'", "JAX": "\"jax 1\" 'jax 1'"},
        {"PyTorch": "\"torch 2\" 'torch 2'", "JAX": "\"jax 2\" 'jax 2'"},
        {"PyTorch": "0.25", "JAX": "0.5"},
    ]


def test_tabs_are_synchronised(good: Site):
    labels = good.html("tabs").xpath("//label")
    assert {(n.get("data-sync-group"), n.get("data-sync-id")) for n in labels} == {
        ("framework", "torch"),
        ("framework", "jax"),
    }
    inputs = {n.get("id") for n in good.html("tabs").xpath("//input[@type='radio']")}
    assert {n.get("for") for n in labels} == inputs


def test_ids_are_unique(good: Site):
    for page in ("tabs", "figures", "sub/script", "exercises/ex01-fold"):
        ids = good.html(page).xpath("//@id")
        assert len(ids) == len(set(ids)), page


def test_common_code_stands_once(good: Site):
    page = text(good.html("tabs").body)
    assert page.count("abs(x)") == 1
    assert page.count('"agreed"') == page.count("'agreed'") == 1
    assert "record(" not in page
    assert "hidden" not in page


def test_errors_are_short(good: Site):
    assert "ZeroDivisionError: division by zero" in text(good.html("tabs").body)
    assert "Traceback" not in text(good.html("tabs").body)


def test_a_figure_takes_one_number(good: Site):
    figures = good.html("figures").xpath("//figure")
    captions = [[text(c).rstrip("¶#").strip() for c in f.xpath(".//figcaption")] for f in figures]
    assert captions == [
        ["Fig. 2.1 The same."],
        ["Fig. 2.2 Slope 1 (PyTorch), 2 (JAX)."],
        ["Fig. 2.3 Tagged."],
    ]
    assert [len(f.xpath(".//img")) for f in figures] == [1, 2, 2]
    assert figures[2].xpath(".//img/@alt") == ["A falling line.", "A rising line."]
    references = text(good.html("figures").xpath("//p[contains(., 'By Equation')]")[0])
    assert references == "By Equation (2.1): Fig. 2.1, Fig. 2.2, Fig. 2.3."


def test_numbers_in_prose(good: Site):
    prose = text(good.html("tabs").xpath("//p[contains(., 'As numbers')]")[0])
    assert prose == (
        "As numbers: 0.25 (PyTorch), −0.50 (JAX); 0.25; −0.5; −1.5 × 10⁻⁹; 12345; yes."
    )
    assert "0.25 (PyTorch), −0.5 (JAX)" in text(good.html("tabs").xpath("//table")[0])
    assert "0.250 (PyTorch), −0.500 (JAX)" in text(good.html("quotes").body)


def test_results_are_collected_in_parallel(good: Site):
    def row(key, page, framework, value):
        return {"key": key, "page": page, "framework": framework, "value": value}

    assert good.results() == [
        row("ex1/a", "exercises/ex01-fold", None, 4),
        row("figures/slope", "figures", "jax", 2),
        row("figures/slope", "figures", "torch", 1),
        row("tabs/n", "tabs", None, 12345),
        row("tabs/tiny", "tabs", "jax", -1.5e-9),
        row("tabs/tiny", "tabs", "torch", -1.5e-9),
        row("tabs/x", "tabs", "jax", -0.5),
        row("tabs/x", "tabs", "torch", 0.25),
        row("tabs/yes", "tabs", None, True),
    ]


def test_a_script_shows_its_figure_and_a_link(good: Site):
    page = good.html("sub/script")
    assert page.xpath("//figure//img/@alt") == ["The label of the figure."]
    assert "ax.plot" not in text(page.body)
    assert "not shown" not in text(page.body)
    assert page.xpath("//p[@class='script-link']/a/@href") == ["../gallery/section/plot_line.html"]


def offered(page) -> list[tuple[str, str, str]]:
    """The links to the numbers of figures: what is seen, what is heard, and where they lead."""
    links = page.xpath("//p[@class='figure-data']/a")
    return [(text(a), a.get("aria-label"), a.get("href")) for a in links]


def test_numbers_of_figures_are_offered(good: Site):
    assert offered(good.html("figures")) == [
        (name, f"Data (CSV) of Fig. 2.{i}, {name}", f"data/figures-{figure}-{framework}.csv")
        for i, figure in enumerate(("same", "differs", "tagged"), 1)
        for name, framework in (("PyTorch", "torch"), ("JAX", "jax"))
    ]
    for framework, slope in (("torch", 1), ("jax", 2)):
        table = (good.out / f"data/figures-differs-{framework}.csv").read_text("utf-8")
        assert table.splitlines()[0] == "panel,series,x,y,x_label,y_label"
        assert table.splitlines()[-1] == f",line,{slope:.1f},1.0,,"
    same = (good.out / "data/figures-same-jax.csv").read_text("utf-8")
    assert f",1.0,{1 + 2e-9!r}," in same  # no digit is lost where the pictures are the same


def test_equal_numbers_are_offered_once(good: Site):
    wanted = ("Data (CSV)", "Data (CSV) of Fig. 3.1", "../data/script-script.csv")
    assert offered(good.html("sub/script")) == [wanted]
    assert (good.out / "data/script-script.csv").is_file()
    assert offered(good.html("tabs")) == []


def test_solutions_are_folded(good: Site):
    page = good.html("exercises/ex01-fold")
    folds = page.xpath("//details[@class='fold']")
    titles = [f.xpath("summary/h2/text()")[0] for f in folds]
    assert titles == ["Hint", "Solution (a): so", "What goes wrong"]
    assert not any("open" in f.attrib for f in folds)
    assert folds[1].getparent().get("id") == "ex1-a"
    assert "In detail" in text(folds[1])
    assert "Open." not in "".join(map(text, folds))
    assert page.xpath("//a[@href='#ex1-a']")  # in the text and in the contents
    contents = text(page.find_class("sphinxsidebar")[0])
    assert "Solution (a): so" in contents
    assert page.xpath("//head/noscript/link/@href") == ["../_static/folds-open.css"]


def test_only_exercises_are_folded(good: Site):
    page = good.html("tabs")
    assert not page.xpath("//details[@class='fold']")
    assert not page.xpath("//head/noscript")


def test_reference_says_who_uses_a_function(good: Site):
    lists = good.html("reference").find_class("used-in")
    assert [text(p) for p in lists] == ["Used in A line, Script"]
    assert lists[0].xpath("a/@href") == ["gallery/section/plot_line.html", "sub/script.html"]


def test_links_to_the_notebooks(good: Site):
    links = good.html("sub/script").xpath("//p[@class='notebook-links']/a")
    assert [(text(a), a.get("href")) for a in links] == [
        ("PyTorch", "../notebooks/sub/script-torch.ipynb"),
        ("JAX", "../notebooks/sub/script-jax.ipynb"),
    ]
    assert all("download" in a.attrib for a in links)
    assert not good.html("quotes").find_class("notebook-links")
