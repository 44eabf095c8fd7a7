# mlgt serve in a container: docker build -t mlgt . && docker run -p 127.0.0.1:8000:8000 -v ./tags:/models/tags:ro mlgt
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN python -m venv /opt/mlgt && /opt/mlgt/bin/pip install --no-cache-dir ".[serve]"

FROM python:3.12-slim
RUN useradd --create-home --uid 10001 mlgt
COPY --from=build /opt/mlgt /opt/mlgt
ENV PATH=/opt/mlgt/bin:$PATH NUMBA_CACHE_DIR=/home/mlgt/.cache/numba PYTHONUNBUFFERED=1
USER mlgt
# Compile the kernels once, so that every start is quick.
RUN cd /tmp && mlgt synth toy --rows 1500 --test-rows 50 --features 500 --labels 400 --quiet \
    && mlgt train toy/train.txt.gz --model toy-model --quiet \
    && mlgt predict toy-model toy/test.txt.gz -o toy.txt --quiet && rm -r toy toy-model toy.txt
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["python", "-c", \
    "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/ready', timeout=4)"]
ENTRYPOINT ["mlgt", "serve", "--host", "0.0.0.0"]
CMD ["/models/tags"]
