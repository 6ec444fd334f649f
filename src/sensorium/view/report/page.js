// Draws the report: decodes the page's data and gives it to Plotly. Names come from users and are only ever text.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const KINDS = { u1: Uint8Array, u2: Uint16Array, f4: Float32Array, f8: Float64Array };
  const BODY_COLORS = ["#f0803c", "#3d9be9", "#b77bf0", "#37b26c", "#d4ab1f", "#ee5d92", "#1fb5b5", "#b08d57"];
  const VIRIDIS = [[0, "#440154"], [0.25, "#3b528b"], [0.5, "#21918c"], [0.75, "#5ec962"], [1, "#fde725"]];
  const AXIS_COLORS = ["#ff6b6b", "#51cf66", "#4dabf7"];
  const SCREEN = { ink: "#e6edf3", soft: "#8b949e", line: "#30363d", paper: "#0d1117" };
  const MOST_BACKDROP = 3000;
  const redraws = [];

  // --- small parts ---------------------------------------------------------------------------------------------------

  function decoded(packed) {
    const text = atob(packed.data);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
    return new KINDS[packed.kind](bytes.buffer);
  }

  // Plotly reads a little markup in names; a user's name has none
  const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  function made(tag, className, text) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  function titled(strong, soft) {
    const heading = made("h3", "", strong);
    if (soft) heading.append(" ", made("span", "", soft));
    return heading;
  }

  const isDark = () => root.dataset.scheme === "dark";
  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const faded = (hex, share) => hex + Math.round(255 * share).toString(16).padStart(2, "0");

  function lineColors(count) {
    const three = isDark() ? ["#ff7b72", "#56d364", "#79c0ff"] : ["#b3261e", "#1b7f3b", "#0b5cad"];
    return count === 1 ? [isDark() ? "#79c0ff" : "#0b5cad"] : three;
  }

  const FONT = 'system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
  // Dragging zooms and a double click shows all; buttons would lie over the legends
  const CONFIG = { responsive: true, displaylogo: false, displayModeBar: false };
  const CONFIG_3D = { ...CONFIG, displayModeBar: true, modeBarButtons: [["resetCameraDefault3d", "toImage"]] };

  function layout(more) {
    return {
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: FONT, size: 12, color: css("--soft") },
      margin: { l: 62, r: 12, t: 26, b: 38 },
      legend: { orientation: "h", x: 0, y: 1.0, yanchor: "bottom", traceorder: "normal", font: { color: css("--ink") } },
      hoverlabel: { font: { family: FONT } },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: css("--soft"), activecolor: css("--accent") },
      ...more,
    };
  }

  const axis = (title, more) => ({
    title: { text: title, standoff: 6 },
    gridcolor: css("--line"),
    linecolor: css("--line"),
    zerolinecolor: css("--line"),
    automargin: true,
    ...more,
  });

  // A plot is drawn when it comes near, or earlier, while the browser is idle; and again when the scheme changes
  const inSight = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting && !entry.target.drawn) entry.target.draw();
  }, { rootMargin: "1000px" });
  const whenIdle = window.requestIdleCallback || ((call) => setTimeout(call, 30));
  function drawNext() {
    const next = redraws.find((element) => !element.drawn);
    if (next === undefined) return;
    next.draw();
    whenIdle(drawNext);
  }

  function plot(parent, height, figure, config = CONFIG) {
    const element = made("div", "plot");
    element.style.height = `${height}px`;
    element.draw = () => {
      element.drawn = true;
      inSight.unobserve(element);
      const { traces, ...more } = figure();
      return Plotly.react(element, traces, layout(more), config);
    };
    redraws.push(element);
    parent.append(element);
    inSight.observe(element);
    return element;
  }

  // --- in 3-D --------------------------------------------------------------------------------------------------------

  const clouds = (data.clouds || []).map((cloud) => {
    const places = cloud.places.map((packed, k) => {
      const step = (cloud.high[k] - cloud.low[k]) / 65535;
      return Float32Array.from(decoded(packed), (level) => cloud.low[k] + step * level);
    });
    return { ...cloud, places };
  });
  const tracks = (data.tracks || []).map((track, n) => ({
    ...track,
    places: ["x", "y", "z"].map((key) => decoded(track[key])),
    color: BODY_COLORS[n % BODY_COLORS.length],
  }));

  // The bounds that hold all but a few far points, and every track
  function bounds(k, far) {
    const all = clouds.flatMap((cloud) => Array.from(cloud.places[k])).sort((a, b) => a - b);
    const cut = Math.floor(far * all.length);
    const ends = all.length ? [all[cut], all[all.length - 1 - cut]] : [];
    for (const track of tracks) for (const place of track.places[k]) ends.push(place);
    for (const frame of data.frames || []) ends.push(frame.place[k]);
    const low = ends.reduce((a, b) => Math.min(a, b), Infinity);
    const high = ends.reduce((a, b) => Math.max(a, b), -Infinity);
    const margin = 0.02 * (high - low) + 0.25;
    return [low - margin, high + margin];
  }

  // All clouds share one list of names, so that a color means one thing
  function shared(key) {
    const names = new Map();
    for (const cloud of clouds) {
      (cloud[key] ? cloud[key].names : []).forEach((name, n) => names.set(name, cloud[key].colors[n]));
    }
    return names;
  }

  const decodedOnce = new WeakMap();
  function once(packed) {
    if (!decodedOnce.has(packed)) decodedOnce.set(packed, decoded(packed));
    return decodedOnce.get(packed);
  }

  function cloudTrace(cloud, mode, hidden, heights) {
    const classes = mode === "label" || mode === "cause";
    const trace = {
      type: "scatter3d",
      mode: "markers",
      name: plain(cloud.sensor),
      meta: "cloud",
      showlegend: false,
      hovertemplate: "%{x:.2f}, %{y:.2f}, %{z:.2f} m<extra>%{fullData.name}</extra>",
    };
    let [x, y, z] = cloud.places;
    const marker = { size: cloud.count > 20000 ? 1.3 : 2, opacity: 1, line: { width: 0 } };
    if (classes && cloud[mode]) {
      const order = [...shared(mode).keys()];
      const number = cloud[mode].names.map((name) => order.indexOf(name));
      const index = once(cloud[mode].index);
      const colors = [...shared(mode).values()];
      let color = Array.from(index, (n) => number[n]);
      if (hidden.size) {
        const kept = color.map((n) => !hidden.has(order[n]));
        const only = (values) => values.filter((_, i) => kept[i]);
        [x, y, z, color] = [only(x), only(y), only(z), only(color)];
      }
      const steps = colors.length;
      const scale = colors.flatMap((paint, n) => [[n / steps, paint], [(n + 1) / steps, paint]]);
      Object.assign(marker, { color: color, colorscale: scale, cmin: -0.5, cmax: steps - 0.5 });
    } else if (mode === "intensity" && cloud.intensity) {
      Object.assign(marker, { color: once(cloud.intensity.level), colorscale: VIRIDIS, cmin: 0, cmax: 255 });
    } else if (mode === "height") {
      Object.assign(marker, { color: z, colorscale: VIRIDIS, cmin: heights[0], cmax: heights[1] });
    } else {
      marker.color = SCREEN.soft;
    }
    return { ...trace, x, y, z, marker };
  }

  function furniture(size) {
    const hover = { showlegend: false, hovertemplate: "%{x:.2f}, %{y:.2f}, %{z:.2f} m<extra>%{fullData.name}</extra>" };
    const traces = tracks.filter((track) => track.places[0].length > 1).map((track) => {
      const [x, y, z] = track.places;
      return { type: "scatter3d", mode: "lines", name: plain(track.name), x, y, z, line: { color: track.color, width: 5 }, ...hover };
    });
    const ends = [0, 1, 2].map((k) => tracks.map((track) => track.places[k].at(-1)));
    const colors = tracks.map((track) => track.color);
    traces.push({
      type: "scatter3d", mode: "markers+text", name: "bodies", x: ends[0], y: ends[1], z: ends[2], ...hover,
      marker: { size: 5, color: colors, line: { width: 0 } },
      text: tracks.map((track) => plain(track.name)), textposition: "top center", textfont: { color: colors, size: 12 },
    });
    const length = 0.018 * size;
    AXIS_COLORS.forEach((color, k) => {
      const lines = [[], [], []];
      for (const frame of data.frames || []) {
        for (let i = 0; i < 3; i += 1) lines[i].push(frame.place[i], frame.place[i] + length * frame.axes[k][i], null);
      }
      traces.push({
        type: "scatter3d", mode: "lines", showlegend: false, name: `${"xyz"[k]} of sensors`, hoverinfo: "skip",
        x: lines[0], y: lines[1], z: lines[2], line: { color: color, width: 4 },
      });
    });
    return traces;
  }

  function drawClouds(parent) {
    const screen = made("div", "screen");
    const bar = made("div", "bar");
    const choice = made("div", "choice");
    const says = made("span", "says");
    const key = made("div", "key");
    const modes = ["label", "intensity", "height", "cause"].filter(
      (mode) => mode === "height" || clouds.some((cloud) => cloud[mode]),
    );
    const ranges = [bounds(0, 0.004), bounds(1, 0.004), bounds(2, 0.002)];
    const spans = ranges.map(([low, high]) => high - low);
    const size = Math.max(...spans);
    let mode = modes[0];
    const hidden = new Set();
    const isNarrow = document.body.clientWidth < 700;
    const far = isNarrow ? 1.35 : 1;

    const shown = clouds.reduce((sum, cloud) => sum + cloud.count, 0);
    const total = clouds.reduce((sum, cloud) => sum + cloud.total, 0);
    const part = shown < total ? `${shown.toLocaleString("en")} of ${total.toLocaleString("en")}` : total.toLocaleString("en");
    says.textContent = `${part} points, sweep that ended at ${Math.max(...clouds.map((cloud) => cloud.end_s)).toFixed(2)} s`;
    bar.append(made("span", "", "Color by"), choice, says);
    screen.append(bar);

    const element = plot(screen, isNarrow ? 340 : Math.max(360, Math.min(640, 0.62 * window.innerHeight)), () => ({
      traces: [...clouds.map((cloud) => cloudTrace(cloud, mode, hidden, ranges[2])), ...furniture(size)],
      margin: { l: 0, r: 0, t: 0, b: 0 },
      paper_bgcolor: SCREEN.paper,
      uirevision: "kept",
      modebar: { bgcolor: "rgba(0,0,0,0)", color: SCREEN.soft, activecolor: SCREEN.ink, orientation: "v" },
      scene: {
        dragmode: "turntable",
        aspectmode: "manual",
        aspectratio: { x: spans[0] / size, y: spans[1] / size, z: spans[2] / size },
        camera: {
          eye: { x: -0.44 * far, y: -0.74 * far, z: 0.5 * far }, center: { x: 0, y: -0.02, z: -0.12 }, up: { x: 0, y: 0, z: 1 },
        },
        ...Object.fromEntries(["x", "y", "z"].map((name, k) => [`${name}axis`, {
          title: { text: `${name} [m]`, font: { color: SCREEN.soft, size: 11 } },
          range: ranges[k], color: SCREEN.soft, gridcolor: "#1b222b", showbackground: false, zeroline: false,
          tickfont: { size: 10 }, showspikes: false, nticks: name === "z" ? 4 : 9,
        }])),
      },
    }), CONFIG_3D);
    element.id = "plot-3d";

    // The wheel scrolls the page until the plot is clicked
    let isHeld = false;
    document.addEventListener("pointerdown", (event) => { isHeld = element.contains(event.target); });
    element.addEventListener("wheel", (event) => { if (!isHeld) event.stopImmediatePropagation(); }, { capture: true });

    function drawKey() {
      key.replaceChildren();
      if (mode === "label" || mode === "cause") {
        for (const [name, color] of shared(mode)) {
          const chip = made("button");
          const dot = made("i");
          dot.style.background = color;
          chip.type = "button";
          chip.title = "Show or hide";
          chip.setAttribute("aria-pressed", String(!hidden.has(name)));
          chip.append(dot, name);
          chip.onclick = () => {
            if (!hidden.delete(name)) hidden.add(name);
            drawKey();
            element.draw();
          };
          key.append(chip);
        }
        return;
      }
      const scale = made("span", "scale");
      scale.style.background = `linear-gradient(90deg, ${VIRIDIS.map(([, color]) => color).join(", ")})`;
      const measured = clouds.filter((cloud) => cloud.intensity);
      const ends = mode === "height"
        ? ranges[2].map((end) => `${end.toFixed(1)} m`)
        : [Math.min(...measured.map((cloud) => cloud.intensity.low)), Math.max(...measured.map((cloud) => cloud.intensity.high))]
          .map((power) => Number((10 ** power).toPrecision(2)).toString());
      key.append(made("span", "", mode === "height" ? "height" : "intensity, logarithmic"), ends[0], scale, ends[1]);
    }

    for (const name of modes) {
      const button = made("button", "", name);
      button.type = "button";
      button.setAttribute("aria-pressed", String(name === mode));
      button.onclick = () => {
        mode = name;
        hidden.clear();
        for (const other of choice.children) other.setAttribute("aria-pressed", String(other === button));
        drawKey();
        element.draw();
      };
      choice.append(button);
    }
    drawKey();
    screen.append(key);
    parent.append(screen);
  }

  // --- the other sections --------------------------------------------------------------------------------------------

  function drawTracks(parent) {
    const card = made("div", "card");
    const [x, y] = [bounds(0, 0.004), bounds(1, 0.004)];
    const wide = Math.min(1160, document.body.clientWidth - 40);
    const height = Math.max(280, Math.min(620, (wide * (y[1] - y[0])) / (x[1] - x[0]) + 80));
    const total = clouds.reduce((sum, cloud) => sum + cloud.count, 0);
    const every = Math.max(1, Math.ceil(total / MOST_BACKDROP));
    plot(card, height, () => ({
      traces: [
        ...clouds.map((cloud) => ({
          type: "scatter", mode: "markers", name: plain(`seen by ${cloud.sensor}`), hoverinfo: "skip",
          x: cloud.places[0].filter((_, i) => i % every === 0), y: cloud.places[1].filter((_, i) => i % every === 0),
          marker: { size: 2, color: css("--soft"), opacity: 0.45 },
        })),
        ...tracks.flatMap((track) => {
          const [wayX, wayY] = track.places;
          const last = wayX.length - 1;
          return [{
            type: "scatter", mode: last > 0 ? "lines+markers" : "markers", name: plain(track.name), x: wayX, y: wayY,
            line: { color: track.color, width: 2.5 },
            marker: { color: track.color, size: Array.from(wayX, (_, i) => (i === last ? 9 : 0)), opacity: 1 },
            hovertemplate: "%{x:.2f}, %{y:.2f} m<extra>%{fullData.name}</extra>",
          }];
        }),
      ],
      xaxis: axis("x [m]", { range: x, zeroline: false }),
      yaxis: axis("y [m]", { range: y, scaleanchor: "x", zeroline: false }),
      hovermode: "closest",
    }));
    parent.append(card);
  }

  function drawImages(parent) {
    for (const image of data.images) {
      const screen = made("div", "screen");
      const picture = made("img");
      picture.src = image.address;
      picture.alt = `${image.sensor}: ${image.words}`;
      screen.append(titled(image.sensor, image.words), picture);
      parent.append(screen);
    }
  }

  function shades(sensor) {
    const own = (data.faults || []).filter((event) => sensor === event.sensor || sensor.startsWith(`${event.sensor}[`));
    return own.slice(0, 100).map((event) => ({
      type: "rect", xref: "x", yref: "paper", x0: event.from_s, x1: event.to_s, y0: 0, y1: 1, layer: "below",
      fillcolor: faded(css("--fault"), isDark() ? 0.2 : 0.16), line: { width: 0 },
    }));
  }

  function drawSignals(parent) {
    const pair = made("div", "pair");
    for (const signal of data.signals) {
      const card = made("div", "card");
      card.append(titled(`${signal.sensor} · ${signal.title}`, `[${signal.unit}]`));
      plot(card, 330, () => {
        const colors = lineColors(signal.lines.length);
        const traces = signal.lines.flatMap((line, n) => {
          const of = (what, more) => ({
            type: "scatter", mode: "lines", name: plain(`${line.name} ${what}`), x: once(line[what].t), y: once(line[what].v),
            hovertemplate: "%{y:.5g}<extra>%{fullData.name}</extra>", ...more,
          });
          const pale = faded(colors[n], isDark() ? 0.55 : 0.42);
          return [
            of("measured", { line: { color: pale, width: 1.2 } }),
            of("truth", { line: { color: colors[n], width: 1.8 } }),
            of("error", { line: { color: colors[n], width: 1 }, yaxis: "y2", showlegend: false }),
          ];
        });
        // Of components the legend has one entry each, which switches all three lines
        if (signal.lines.length > 1) {
          traces.forEach((trace, n) => {
            const component = signal.lines[Math.floor(n / 3)].name;
            const entry = n % 3 === 1 ? { name: plain(component) } : { showlegend: false };
            Object.assign(trace, { legendgroup: component }, entry);
          });
        }
        return {
          traces,
          xaxis: axis("time [s]", { range: [data.from_s, data.to_s], anchor: "y2", zeroline: false }),
          yaxis: axis(signal.unit, { domain: [0.42, 1], zeroline: false, nticks: 6 }),
          yaxis2: axis("error", { domain: [0, 0.32], zerolinecolor: css("--soft"), nticks: 4 }),
          shapes: shades(signal.sensor),
          hovermode: "x unified",
          hoverlabel: { bgcolor: css("--card"), font: { color: css("--ink"), family: FONT } },
        };
      });
      pair.append(card);
    }
    parent.append(pair);
  }

  function drawAllan(parent) {
    const pair = made("div", "pair");
    for (const curve of data.allan) {
      const card = made("div", "card");
      card.append(titled(`${curve.sensor} · ${curve.title}`, `[${curve.unit}]`));
      plot(card, 330, () => {
        const colors = lineColors(curve.lines.length);
        const traces = curve.lines.flatMap((line, n) => {
          const x = once(line.tau);
          const edge = { type: "scatter", mode: "lines", x, line: { width: 0 }, showlegend: false, hoverinfo: "skip" };
          return [
            { ...edge, y: once(line.low) },
            { ...edge, y: once(line.high), fill: "tonexty", fillcolor: faded(colors[n], 0.16) },
            {
              type: "scatter", mode: "lines+markers", name: plain(line.name || "deviation"), x, y: once(line.deviation),
              line: { color: colors[n], width: 1.6 }, marker: { size: 4 },
              hovertemplate: "%{y:.3e} at %{x:.3g} s<extra>%{fullData.name}</extra>",
            },
          ];
        });
        const log = { type: "log", exponentformat: "power", dtick: 1 };
        return {
          traces,
          xaxis: axis("averaging time τ [s]", log),
          yaxis: axis(`deviation [${curve.unit}]`, log),
          hovermode: "closest",
        };
      });
      pair.append(card);
    }
    parent.append(pair);
  }

  function drawFaults(parent) {
    const card = made("div", "card");
    const rows = [...new Set(data.faults.map((event) => `${event.sensor} · ${event.fault}`))];
    plot(card, 90 + 30 * Math.min(rows.length, 30), () => ({
      traces: [{
        type: "bar", orientation: "h", showlegend: false, width: 0.55,
        y: data.faults.map((event) => plain(`${event.sensor} · ${event.fault}`)),
        base: data.faults.map((event) => event.from_s),
        x: data.faults.map((event) => Math.max(event.to_s - event.from_s, 0.002 * (data.to_s - data.from_s))),
        customdata: data.faults.map((event) => [event.from_s, event.active ? "the end" : `${event.to_s.toFixed(3)} s`]),
        hovertemplate: "%{customdata[0]:.3f} s to %{customdata[1]}<extra>%{y}</extra>",
        marker: { color: css("--fault") },
      }],
      barmode: "overlay",
      xaxis: axis("time [s]", { range: [data.from_s, data.to_s], zeroline: false }),
      yaxis: axis("", { type: "category", autorange: "reversed", tickfont: { color: css("--ink") } }),
      margin: { l: 62, r: 12, t: 10, b: 38 },
      hovermode: "closest",
    }));
    parent.append(card);
  }

  // --- the page ------------------------------------------------------------------------------------------------------

  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  function paint(dark) {
    root.dataset.scheme = dark ? "dark" : "light";
    for (const element of redraws) if (element.drawn) element.draw();
  }
  root.dataset.scheme = prefersDark.matches ? "dark" : "light";
  prefersDark.addEventListener("change", (event) => paint(event.matches));
  document.getElementById("scheme").onclick = () => paint(!isDark());
  window.addEventListener("beforeprint", () => { for (const element of redraws) if (!element.drawn) element.draw(); });

  const draws = { clouds: drawClouds, tracks: drawTracks, images: drawImages, signals: drawSignals, allan: drawAllan, faults: drawFaults };

  // The library takes its time to start: first the browser shows the page's words
  function begin() {
    const library = document.createElement("script");
    library.textContent = document.getElementById("plotly").textContent;
    document.head.append(library);
    for (const place of document.querySelectorAll("[data-draws]")) draws[place.dataset.draws](place);
    showPlace();
    whenIdle(drawNext);
  }
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(begin, 0)));

  // The index shows where one is: the last section that begins above the middle of the screen
  const links = new Map([...document.querySelectorAll("nav a")].map((link) => [link.hash.slice(1), link]));
  const sections = [...document.querySelectorAll("main section")];
  function showPlace() {
    const atEnd = window.innerHeight + window.scrollY >= document.body.scrollHeight - 2;
    const above = sections.filter((section) => section.getBoundingClientRect().top < 0.4 * window.innerHeight);
    const here = atEnd ? sections.at(-1) : above.at(-1) || sections[0];
    for (const [anchor, link] of links) link.classList.toggle("here", here !== undefined && anchor === here.id);
  }
  window.addEventListener("scroll", showPlace, { passive: true });
  showPlace();
})();
