// Made by console/build.mjs.
const DOCUMENTS: &[Document] = &[
    Document {
        name: "base-PH3ZT2I4.css",
        media: "text/css; charset=utf-8",
        plain: include_bytes!("base-PH3ZT2I4.css"),
        gzip: include_bytes!("base-PH3ZT2I4.css.gz"),
    },
    Document {
        name: "icon-3BECC3E4.svg",
        media: "image/svg+xml",
        plain: include_bytes!("icon-3BECC3E4.svg"),
        gzip: include_bytes!("icon-3BECC3E4.svg.gz"),
    },
    Document {
        name: "index.html",
        media: "text/html; charset=utf-8",
        plain: include_bytes!("index.html"),
        gzip: include_bytes!("index.html.gz"),
    },
    Document {
        name: "inter-latin-wght-normal-NRMW37G5.woff2",
        media: "font/woff2",
        plain: include_bytes!("inter-latin-wght-normal-NRMW37G5.woff2"),
        gzip: &[],
    },
    Document {
        name: "jetbrains-mono-latin-wght-normal-VBS632QH.woff2",
        media: "font/woff2",
        plain: include_bytes!("jetbrains-mono-latin-wght-normal-VBS632QH.woff2"),
        gzip: &[],
    },
    Document {
        name: "licences-12A62E97.txt",
        media: "text/plain; charset=utf-8",
        plain: include_bytes!("licences-12A62E97.txt"),
        gzip: include_bytes!("licences-12A62E97.txt.gz"),
    },
    Document {
        name: "main-GKUINLTR.js",
        media: "text/javascript; charset=utf-8",
        plain: include_bytes!("main-GKUINLTR.js"),
        gzip: include_bytes!("main-GKUINLTR.js.gz"),
    },
];
